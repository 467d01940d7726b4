// SPDX-License-Identifier: GPL-2.0
// lockscope recover: from the bytes of a machine's memory to what the module had.
#include "recover/dead_machine.h"
#include "support.h"

#include "log/log.h"
#include "recover/description.h"
#include "recover/pages.h"
#include "recover/printk.h"
#include "recover/recover.h"
#include "util/last_words.h"

extern "C" {
#include "lockclass/event.h"
}

#include <elf.h>

#include <cstring>

namespace lockscope {

namespace {

using recover::KernelMemory;
using recover::Recovery;
using test::DeadMachine;
using test::LogBuilder;
using test::TempDir;

constexpr std::uint64_t kCode = 0xffffffff81000000u;

Recovery recovered(DeadMachine &machine)
{
	auto found = recover::recover(*machine.memory(), "memory");
	EXPECT_TRUE(found) << found.error().what;
	return found ? std::move(*found) : Recovery{};
}

ls_rec_sight sight_of(std::uint64_t time, std::uint32_t cls, std::uint64_t lock)
{
	ls_rec_sight s{};
	s.time_ns = time;
	s.val = cls;
	s.lock = lock;
	s.ip = kCode + time;
	s.pid = 7;
	std::strcpy(s.comm, "task");
	return s;
}

ls_held_rec held(std::uint32_t cls, std::uint64_t lock)
{
	return {cls, 0, kCode + 0x10, lock};
}

std::vector<LogRecord> records_of(const Image &image)
{
	LogDecoder decoder;
	std::vector<LogRecord> out;
	EXPECT_EQ(decoder.decode(image.log, out), image.log.size());
	EXPECT_EQ(decoder.malformed(), 0u) << decoder.problem();
	return out;
}

template <typename Record> std::vector<Record> all(const std::vector<LogRecord> &records)
{
	std::vector<Record> out;
	for (const auto &record : records)
		if (const auto *r = std::get_if<Record>(&record))
			out.push_back(*r);
	return out;
}

} // namespace

TEST(Pages, SmallAndLargeOnes)
{
	std::string bytes(8 * 4096, 0);
	const auto entry = [&](std::uint64_t table, std::uint64_t at, unsigned shift,
			       std::uint64_t value) {
		std::memcpy(&bytes[table + (at >> shift & 511) * 8], &value, 8);
	};
	const std::uint64_t small = 0xffffffff81234000u, large = 0xffffffff81400000u,
			    huge = 0xffffffffc0000000u;
	entry(0x1000, small, 39, 0x2000 | 1);
	entry(0x2000, small, 30, 0x3000 | 1);
	entry(0x2000, huge, 30, 0x40000000 | 0x80 | 1);
	entry(0x3000, small, 21, 0x4000 | 1);
	entry(0x3000, large, 21, 0x600000 | 0x80 | 0x8000000000000000u | 1);
	entry(0x4000, small, 12, 0x7000 | 1);
	const auto memory = recover::memory_in(bytes);
	KernelMemory kernel(*memory, 0x1000, 4);
	EXPECT_EQ(kernel.physical(small + 0x123), 0x7123u);
	EXPECT_EQ(kernel.physical(large + 0x12345), 0x612345u);
	EXPECT_EQ(kernel.physical(huge + 0x1234567), 0x41234567u);
	EXPECT_EQ(kernel.physical(small + 0x1000), std::nullopt);
	EXPECT_EQ(kernel.physical(0x1234000), std::nullopt);
	EXPECT_EQ(kernel.physical(0x7fff81234000u), std::nullopt);
	/* The last page is there, the one behind it is not. */
	char buffer[32];
	EXPECT_TRUE(kernel.read(small + 4096 - 16, buffer, 16));
	EXPECT_FALSE(kernel.read(small + 4096 - 16, buffer, 17));
	EXPECT_FALSE(kernel.read(large, buffer, 1)) << "beyond the file";
}

TEST(Pages, FiveLevels)
{
	std::string bytes(7 * 4096, 0);
	const std::uint64_t at = 0xff11000000000000u;
	std::uint64_t table = 0x1000;
	for (const unsigned shift : {48, 39, 30, 21, 12}) {
		const std::uint64_t value = (table + 0x1000) | 1;
		std::memcpy(&bytes[table + (at >> shift & 511) * 8], &value, 8);
		table += 0x1000;
	}
	const auto memory = recover::memory_in(bytes);
	EXPECT_EQ(KernelMemory(*memory, 0x1000, 5).physical(at + 5), 0x6005u);
	EXPECT_EQ(KernelMemory(*memory, 0x1000, 4).physical(at + 5), std::nullopt);
}

TEST(Pages, TablesThatPointAnywhere)
{
	/* Each entry leads to its own table: the walk ends after the last level. */
	std::string bytes(2 * 4096, 0);
	for (std::uint64_t i = 0; i < 512; i++) {
		const std::uint64_t value = i % 2 ? 0xfffffffffffff000u | 1 : 0x1000 | 1;
		std::memcpy(&bytes[0x1000 + i * 8], &value, 8);
	}
	const auto memory = recover::memory_in(bytes);
	KernelMemory kernel(*memory, 0x1000, 4);
	char buffer[64];
	EXPECT_FALSE(kernel.read(0xffffffffffffffe0u, buffer, sizeof(buffer)));
	EXPECT_EQ(kernel.physical(0xffff800000000000u), 0x1000u);
}

TEST(Recover, TheLogAndTheChains)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{a}}, {b});
	DeadMachine machine;
	machine.log(log.log());
	machine.chains(log.image().chains);
	const Recovery found = recovered(machine);
	EXPECT_EQ(found.image.log, log.log());
	ASSERT_EQ(found.image.chains.size(), log.image().chains.size());
	EXPECT_EQ(found.image.chains.back().val, log.image().chains.back().val);
	EXPECT_EQ(found.image.info.instance, 0x1234u);
	ASSERT_EQ(found.image.prims.size(), 1u);
	EXPECT_STREQ(found.image.prims[0].function, "mutex_lock");
	EXPECT_EQ(found.death.missing,
		  std::vector<std::string>{"the kernel's symbols: functions have no names"});

	/* It becomes a store as a recorded one does. */
	TempDir dir;
	ASSERT_TRUE(test::record_image(found.image, dir / "a.db"));
}

TEST(Recover, NothingOfTheModule)
{
	const auto memory = recover::memory_in(std::string(1 << 20, 'x'));
	const auto found = recover::recover(*memory, "memory");
	ASSERT_FALSE(found);
	EXPECT_EQ(found.error().exit, Exit::Environment);
	EXPECT_NE(found.error().what.find("memory"), std::string::npos);
	EXPECT_FALSE(found.error().hint.empty());
}

TEST(Recover, ACopyOfTheAnchorIsNone)
{
	DeadMachine machine;
	std::string bytes = machine.bytes();
	const std::string page = bytes.substr(machine.anchor_at(), DeadMachine::kPage);
	bytes.replace(machine.anchor_at(), page.size(), std::string(page.size(), 0));
	bytes.resize((bytes.size() + 4095) / 4096 * 4096);
	bytes += page;
	EXPECT_FALSE(recover::recover(*recover::memory_in(bytes), "memory"));
	/* Before the true one it is passed over. */
	machine.anchor.physical++;
	const auto lying = machine.bytes();
	EXPECT_FALSE(recover::recover(*recover::memory_in(lying), "memory"));
}

TEST(Recover, AnAnchorOfAnotherVersion)
{
	DeadMachine machine;
	machine.anchor.version++;
	const auto found = recover::recover(*machine.memory(), "memory");
	ASSERT_FALSE(found);
	EXPECT_NE(found.error().what.find("another version"), std::string::npos);
}

TEST(Recover, ALogThatEndsWithinARecord)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{a}}, {b});
	DeadMachine machine;
	auto bytes = log.log();
	bytes.resize(bytes.size() - 8);
	machine.log(bytes);
	const Recovery found = recovered(machine);
	EXPECT_LT(found.image.log.size(), bytes.size());
	EXPECT_EQ(all<ClassRecord>(records_of(found.image)).size(), 2u);
	ASSERT_EQ(found.death.missing.size(), 2u);
	EXPECT_EQ(found.death.missing[0].find("the log from byte"), 0u);
}

TEST(Recover, ALengthThatIsImpossible)
{
	DeadMachine machine;
	machine.write(machine.anchor.log_length, ~std::uint64_t{7});
	machine.write(machine.anchor.chain_count, ~std::uint32_t{0});
	machine.write(machine.anchor.class_count, ~std::uint32_t{0});
	machine.write(machine.anchor.access_count, ~std::uint32_t{0});
	const Recovery found = recovered(machine);
	EXPECT_TRUE(found.image.log.empty());
	EXPECT_EQ(found.death.missing.size(), 5u);
}

TEST(Recover, EventsOnTheirWayInTheOrderOfTime)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{a}}, {b});
	DeadMachine machine(2);
	machine.log(log.log());
	const std::vector<std::uint64_t> stack = {kCode + 1, kCode + 2};
	machine.event(0, DeadMachine::observation(sight_of(30, a, 0x30), {held(b, 0x31)}, stack));
	machine.event(1, DeadMachine::observation(sight_of(20, b, 0x20), {held(a, 0x21)}, stack));
	const Recovery found = recovered(machine);
	EXPECT_EQ(found.pending.observations, 2u);
	EXPECT_EQ(found.pending.lost, 0u);
	const auto records = records_of(found.image);
	const auto sights = all<ObservationRecord>(records);
	ASSERT_EQ(sights.size(), 3u);
	EXPECT_EQ(sights[1].time_ns, 20u);
	EXPECT_EQ(sights[2].time_ns, 30u);
	EXPECT_EQ(sights[1].stack, sights[2].stack) << "one stack, logged once";
	const auto stacks = all<StackRecord>(records);
	EXPECT_EQ(stacks.back().ip, stack);
	EXPECT_EQ(found.image.info.sights, 3u);
	EXPECT_EQ(found.image.info.log_bytes, found.image.log.size());
}

TEST(Recover, AnEventThatIsInTheLogAlready)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{a}}, {b});
	DeadMachine machine;
	machine.log(log.log());
	LogDecoder decoder;
	std::vector<LogRecord> records;
	decoder.decode(log.log(), records);
	const auto logged = all<ObservationRecord>(records).at(0);
	ls_rec_sight again = sight_of(logged.time_ns, b, logged.lock);
	again.ip = logged.ip;
	again.pid = logged.pid;
	machine.event(0, DeadMachine::observation(again, {held(a, 1)}, {}));
	const Recovery found = recovered(machine);
	EXPECT_EQ(found.pending.observations, 0u);
	EXPECT_EQ(found.image.log, log.log());
}

TEST(Recover, AnEventThatIsHalfWritten)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	DeadMachine machine;
	machine.log(log.log());
	const auto event = [&](std::uint64_t time) {
		return DeadMachine::observation(sight_of(time, a, 1), {held(b, 2)}, {kCode});
	};
	machine.event(0, event(10));
	machine.event(0, event(20), LS_EVENT_FREE);
	machine.event(0, event(30));
	const Recovery found = recovered(machine);
	EXPECT_EQ(found.pending.observations, 2u);
	EXPECT_EQ(found.pending.lost, 1u);
	EXPECT_EQ(found.image.info.losses[LS_LOSS_RECORDS], 1u);
}

TEST(Recover, EventsBehindOneWithoutALength)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	const auto event = [&](std::uint64_t time) {
		return DeadMachine::observation(sight_of(time, a, 1), {held(b, 2)}, {kCode});
	};
	/* @number of the events has no header yet, or none any more. */
	const auto without = [&](int number) {
		DeadMachine machine;
		machine.log(log.log());
		for (int i = 0; i < 4; i++)
			machine.event(0, event(10u + static_cast<unsigned>(i)));
		const auto cpu = machine.read<std::uint64_t>(machine.anchor.cpu.at);
		const std::uint64_t ring = machine.read<DeadMachine::Cpu>(cpu).ring;
		const auto size = machine.read<ls_event>(ring + DeadMachine::kPage).len;
		const std::vector<char> zeros(size, 0);
		machine.write(ring + DeadMachine::kPage + static_cast<unsigned>(number) * size,
			      zeros.data(), size);
		return recovered(machine).pending;
	};
	/* The worker was freeing the first one, which is in the log. */
	EXPECT_EQ(without(0).observations, 3u);
	EXPECT_EQ(without(0).lost, 0u);
	EXPECT_EQ(without(2).observations, 3u);
	EXPECT_EQ(without(2).lost, 1u);
	EXPECT_EQ(without(3).observations, 3u);
}

TEST(Recover, ALockTakenTwiceIsAFinding)
{
	LogBuilder log;
	const auto a = log.add_class("again");
	DeadMachine machine;
	machine.log(log.log());
	auto sight = sight_of(50, a, 0xabc0);
	sight.new_mask = 1;
	machine.event(0, DeadMachine::observation(sight, {held(a, 0xabc0)}, {kCode}, LS_EV_SAME));
	const Recovery found = recovered(machine);
	const auto inversions = all<InversionRecord>(records_of(found.image));
	ASSERT_EQ(inversions.size(), 1u);
	EXPECT_TRUE(inversions[0].same_instance);

	TempDir dir;
	ASSERT_TRUE(test::record_image(found.image, dir / "a.db"));
	auto model = load_stores({dir / "a.db"});
	ASSERT_TRUE(model);
	const Finding finding = test::only_finding(*model);
	EXPECT_EQ(finding.kind, FindingKind::RecursiveLock);
}

TEST(Recover, TheOtherOrderOfAPair)
{
	LogBuilder log;
	const auto a = log.add_class("nested");
	log.acquire({}, {{a, 0x1000}}, {a, 0x2000});
	DeadMachine machine;
	machine.log(log.log());
	LogDecoder decoder;
	std::vector<LogRecord> records;
	decoder.decode(log.log(), records);
	const auto first = all<ObservationRecord>(records).at(0);
	auto sight = sight_of(50, a, first.held.at(0).lock);
	sight.new_mask = 1;
	machine.event(0, DeadMachine::observation(sight, {held(a, first.lock)}, {kCode},
						  LS_EV_INVERSION));
	const auto inversions = all<InversionRecord>(records_of(recovered(machine).image));
	ASSERT_EQ(inversions.size(), 1u);
	EXPECT_FALSE(inversions[0].same_instance);
	EXPECT_EQ(inversions[0].first, 0u);
	EXPECT_EQ(inversions[0].second, 1u);
}

TEST(Recover, LocksHeld)
{
	DeadMachine machine(2);
	const auto running = machine.task("dd", 11), asleep = machine.task("sleeper", 12);
	const ls_held lock = {0x1000, 0, kCode + 8, 5, 0};
	machine.runs(1, running, machine.context({lock, lock}, running));
	machine.context({lock}, asleep);
	machine.context({}, machine.task("idle", 13));
	const auto contexts = recovered(machine).death.contexts;
	ASSERT_EQ(contexts.size(), 2u);
	EXPECT_EQ(contexts[0].comm, "dd");
	EXPECT_EQ(contexts[0].cpu, 1u);
	EXPECT_EQ(contexts[0].held.size(), 2u);
	EXPECT_EQ(contexts[1].comm, "sleeper");
	EXPECT_EQ(contexts[1].pid, 12u);
	EXPECT_FALSE(contexts[1].cpu);
	ASSERT_EQ(contexts[1].held.size(), 1u);
	EXPECT_EQ(contexts[1].held[0].val, 5u);
	EXPECT_EQ(contexts[1].held[0].ip, kCode + 8);
}

namespace {

/// The ring buffer of printk with four descriptors and 64 bytes of text, described as Linux does.
struct Messages {
	DeadMachine machine;
	std::uint64_t descs, infos, data;

	Messages()
	{
		std::uint64_t ring[12] = {};
		descs = machine.room(4 * 24);
		infos = machine.room(4 * 88);
		data = machine.room(64);
		ring[0] = 2; /* count_bits */
		ring[1] = descs;
		ring[2] = infos;
		ring[6] = 6; /* size_bits */
		ring[7] = data;
		const auto at = machine.put(ring);
		machine.describe(
			"OSRELEASE=6.1.0\nSYMBOL(prb)=" + hex64(machine.put(at)) +
			"\nOFFSET(printk_ringbuffer.desc_ring)=0\n"
			"OFFSET(printk_ringbuffer.text_data_ring)=48\n"
			"OFFSET(prb_desc_ring.count_bits)=0\nOFFSET(prb_desc_ring.descs)=8\n"
			"OFFSET(prb_desc_ring.infos)=16\nOFFSET(prb_desc_ring.head_id)=24\n"
			"OFFSET(prb_desc_ring.tail_id)=32\nSIZE(prb_desc)=24\n"
			"OFFSET(prb_desc.state_var)=0\nOFFSET(prb_desc.text_blk_lpos)=8\n"
			"OFFSET(prb_data_blk_lpos.begin)=0\nOFFSET(prb_data_blk_lpos.next)=8\n"
			"SIZE(printk_info)=88\nOFFSET(printk_info.seq)=0\n"
			"OFFSET(printk_info.ts_nsec)=8\nOFFSET(printk_info.text_len)=16\n"
			"OFFSET(prb_data_ring.size_bits)=0\nOFFSET(prb_data_ring.data)=8\n");
		ring_ = at;
	}

	/// Message @id at @begin; it ends at @next. @state: 2, finalized.
	void add(std::uint64_t id, const std::string &text, std::uint64_t begin, std::uint64_t next,
		 std::uint64_t at, std::uint64_t state = 2)
	{
		const std::uint64_t desc[3] = {state << 62 | id, begin, next};
		machine.write(descs + id % 4 * 24, desc);
		machine.write(infos + id % 4 * 88 + 8, id * 1000000000);
		machine.write(infos + id % 4 * 88 + 16, static_cast<std::uint16_t>(text.size()));
		machine.write(data + at + 8, text.data(), text.size());
		machine.write(ring_ + 24, id);
	}
	void begins_with(std::uint64_t id) { machine.write(ring_ + 32, id); }
	std::string text() { return recovered(machine).death.messages; }

private:
	std::uint64_t ring_;
};

} // namespace

TEST(Printk, WrappedAndUnfinishedMessages)
{
	Messages log;
	log.begins_with(5);
	log.add(5, "first\x1b", 0, 16, 0);
	log.add(6, "torn", 16, 32, 16, 0);
	/* 40 bytes do not fit behind 32: they lie at the start of the next round. */
	log.add(7, "wrapped", 96, 144, 0);
	log.machine.write(log.data + 8, "wrapped", 7);
	EXPECT_EQ(log.text(), "[    5.000000] wrappe\n[    7.000000] wrapped\n");
	EXPECT_EQ(recover::Description("a=b").value("a"), "b");
}

TEST(Printk, NonsenseHasNoText)
{
	Messages log;
	log.add(1, "text", ~std::uint64_t{1}, 0, 0);
	log.begins_with(~std::uint64_t{0} >> 2);
	(void)log.text();
	log.machine.describe("SYMBOL(prb)=ffff888000000000\n");
	EXPECT_EQ(log.text(), "");
}

TEST(Recover, NamesOfTheKernel)
{
	DeadMachine machine;
	/* Tokens: 0 "T", 1 "foo", 2 "_bar", 3 "d"; names "Tfoo_bar", "dfoo". */
	const char tokens[] = "T\0foo\0_bar\0d";
	const std::uint16_t index[256] = {0, 2, 6, 11};
	std::uint8_t names[128] = {3, 0, 1, 2, 2, 3, 1};
	const std::int32_t offsets[2] = {-1 - 0x1000, 0x20};
	const auto symbol = [&](const char *name, std::uint64_t at) {
		return std::string("SYMBOL(") + name + ")=" + hex64(at) + "\n";
	};
	const std::string id = "00112233445566778899aabbccddeeff00112233";
	machine.describe("BUILD-ID=" + id + "\n" + symbol("kallsyms_names", machine.put(names)) +
			 symbol("kallsyms_num_syms", machine.put(std::uint32_t{2})) +
			 symbol("kallsyms_token_table", machine.put(tokens)) +
			 symbol("kallsyms_token_index", machine.put(index)) +
			 symbol("kallsyms_offsets", machine.put(offsets)) +
			 symbol("kallsyms_relative_base", machine.put(kCode)));
	const Recovery found = recovered(machine);
	EXPECT_EQ(found.kernel.symbols, "ffffffff81001000 T foo_bar\n0000000000000020 d foo\n");
	EXPECT_EQ(found.kernel.build_id, id);
	TempDir dir;
	ASSERT_TRUE(recover::write_system(found.kernel, dir.path()));
	KernelSymbols symbols(dir / "proc", dir / "sys");
	const auto place = symbols.find(kCode + 0x1004);
	ASSERT_TRUE(place);
	EXPECT_EQ(place->function, "foo_bar");
	EXPECT_EQ(place->build_id, id);
}

/* All CPUs hang at the first use of a lock: the worker has not named its class. */
TEST(Recover, AStaticLockThatTheWorkerDidNotName)
{
	LogBuilder log;
	const auto known = log.add_class("known");
	DeadMachine machine;
	machine.log(log.log());
	/* Tokens: 0 "d", 1 "foo", 2 "_lock"; name "dfoo_lock", 0x20 bytes behind the base. */
	const char tokens[] = "d\0foo\0_lock";
	const std::uint16_t index[256] = {0, 2, 6};
	std::uint8_t names[128] = {3, 0, 1, 2, 3, 0, 1, 1};
	const std::int32_t offsets[2] = {-1 - 0x20, -1 - 0x2000};
	const auto symbol = [&](const char *name, std::uint64_t at) {
		return std::string("SYMBOL(") + name + ")=" + hex64(at) + "\n";
	};
	machine.describe(symbol("kallsyms_names", machine.put(names)) +
			 symbol("kallsyms_num_syms", machine.put(std::uint32_t{2})) +
			 symbol("kallsyms_token_table", machine.put(tokens)) +
			 symbol("kallsyms_token_index", machine.put(index)) +
			 symbol("kallsyms_offsets", machine.put(offsets)) +
			 symbol("kallsyms_relative_base", machine.put(kCode)));
	ls_class c{};
	c.state = LS_CLASS_READY;
	c.kind = LS_KIND_SPINLOCK;
	c.origin = LS_ORIGIN_STATIC;
	c.addr = kCode + 0x20;
	c.offset = 8;
	machine.write(machine.anchor.classes.at + 2 * sizeof(c), c);
	c.origin = LS_ORIGIN_SITE;
	machine.write(machine.anchor.classes.at + 3 * sizeof(c), c);
	machine.write(machine.anchor.class_count, std::uint32_t{3});
	machine.event(0, DeadMachine::observation(sight_of(30, 2, 0x30), {held(known, 0x31)}, {}));
	machine.event(0, DeadMachine::observation(sight_of(40, 3, 0x30), {held(known, 0x31)}, {}));
	const Recovery found = recovered(machine);
	const auto classes = all<ClassRecord>(records_of(found.image));
	ASSERT_EQ(classes.size(), 2u);
	EXPECT_EQ(classes[1].id, 2u);
	EXPECT_EQ(classes[1].name, "foo_lock+0x8");
	EXPECT_EQ(classes[1].module, "vmlinux");
	EXPECT_EQ(found.pending.observations, 1u);
	EXPECT_EQ(found.pending.lost, 1u) << "of a class that has no name";
}

TEST(Recover, FromAnElfCoreFile)
{
	LogBuilder log;
	log.add_class("a");
	DeadMachine machine;
	machine.log(log.log());
	const std::string bytes = machine.bytes();
	/* Two segments; the anchor lies in the second one. */
	const std::uint64_t cut = machine.anchor_at() & ~std::uint64_t{0xfff};
	Elf64_Ehdr header{};
	std::memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	header.e_type = ET_CORE;
	header.e_machine = EM_X86_64;
	header.e_version = EV_CURRENT;
	header.e_phoff = header.e_ehsize = sizeof(header);
	header.e_phentsize = sizeof(Elf64_Phdr);
	header.e_phnum = 2;
	Elf64_Phdr segments[2] = {};
	const std::uint64_t start = sizeof(header) + sizeof(segments);
	segments[0] = {PT_LOAD, 7, start, 0, 0, cut, cut, 0};
	segments[1] = {PT_LOAD, 7, start + cut, 0, cut, bytes.size() - cut, bytes.size() - cut, 0};
	std::string file(reinterpret_cast<const char *>(&header), sizeof(header));
	file.append(reinterpret_cast<const char *>(segments), sizeof(segments));
	file += bytes;
	TempDir dir;
	test::spill(dir / "vmcore", file);
	const auto found = recover::recover(dir / "vmcore");
	ASSERT_TRUE(found) << found.error().what;
	EXPECT_EQ(found->image.log, log.log());

	test::spill(dir / "cut", file.substr(0, 100));
	EXPECT_FALSE(recover::recover(dir / "cut"));
	test::spill(dir / "empty", "");
	EXPECT_FALSE(recover::recover(dir / "empty"));
	EXPECT_FALSE(recover::recover(dir.path()));
}

TEST(Recover, BareMemoryInAFile)
{
	LogBuilder log;
	log.add_class("a");
	DeadMachine machine;
	machine.log(log.log());
	TempDir dir;
	test::spill(dir / "memory", machine.bytes());
	const auto found = recover::recover(dir / "memory");
	ASSERT_TRUE(found) << found.error().what;
	EXPECT_EQ(found->image.log, log.log());
}

TEST(LastWords, TheFirstOneIsTheCause)
{
	EXPECT_EQ(
		cause_of_death("[ 1.0] fine\n[ 2.0] list_del corruption. next->prev\n"
			       "[ 2.1] ------------[ cut here ]\n[ 2.2] kernel BUG at lib/list.c\n"
			       "[ 2.3] Kernel panic - not syncing: Fatal\n"),
		"list_del corruption. next->prev");
	EXPECT_EQ(cause_of_death("[ 1.0] BUG: sleeping function called from invalid context\n"),
		  "");
	EXPECT_EQ(cause_of_death("Oops: 0002 [#1]\r\n"), "Oops: 0002 [#1]");
}

} // namespace lockscope
