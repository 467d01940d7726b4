// SPDX-License-Identifier: GPL-2.0
// From the log into the store: nothing lost, nothing twice, no addresses.
#include "support.h"

#include "model/counters.h"
#include "store/schema.h"

#include <cstring>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/* Offers a growing part of an image, as a device does while it records. */
class GrowingSource final : public Source {
public:
	explicit GrowingSource(Image image) : image_(std::move(image)) {}

	std::size_t visible = 0; ///< bytes of the log
	bool fail_chains = false;

	Result<ls_info> info() override { return image_.info; }
	Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) override
	{
		std::size_t n = 0;
		while (offset + n < visible) {
			ls_rec header;
			std::memcpy(&header, image_.log.data() + offset + n, sizeof(header));
			if (offset + n + header.len > visible || n + header.len > buffer.size())
				break;
			n += header.len;
		}
		if (n)
			std::memcpy(buffer.data(), image_.log.data() + offset, n);
		return n;
	}
	Result<std::vector<ls_chain>> chains(std::uint32_t) override
	{
		if (fail_chains)
			return os_error(5, "cannot read chains");
		return image_.chains;
	}
	Result<std::vector<ls_prim_info>> prims() override { return image_.prims; }
	Result<std::vector<ls_class_counts>> counts() override { return image_.counts; }
	Status control(ls_ctl_op) override { return success(); }
	bool live() const override { return false; }

private:
	Image image_;
};

/* Knows one function for every address. */
class OneName final : public SymbolSource {
public:
	explicit OneName(std::string name) : name_(std::move(name)) {}
	std::optional<Location> find(std::uint64_t ip) override
	{
		return Location{name_, ip & 0xfff, "vmlinux", "aa"};
	}

private:
	std::string name_;
};

LogBuilder sample()
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b"), c = log.add_class("c");
	for (std::uint32_t i = 0; i < 20; i++) {
		log.acquire({.pid = i, .stack = {"f", "g"}},
			    {{.cls = a, .address = 0xffff888000001000u + i}}, {.cls = b});
		log.acquire({.pid = i, .stack = {"g", "f"}}, {{.cls = b}}, {.cls = c});
	}
	log.acquire({.pid = 50, .stack = {"h"}}, {{.cls = c}}, {.cls = a});
	return log;
}

std::vector<std::string> ids(const std::string &file)
{
	auto model = load_stores({file});
	EXPECT_TRUE(model.ok());
	std::vector<std::string> out;
	for (const auto &finding : analyse(*model).findings)
		out.push_back(finding.id + finding.title + std::to_string(finding.score));
	return out;
}

class RecorderTest : public testing::Test {
protected:
	TempDir dir;
	std::string file = dir / "store.db";
};

} // namespace

TEST_F(RecorderTest, KilledAtAnyRecordGoesOnWithoutLossOrDoubles)
{
	const LogBuilder log = sample();
	const Image image = log.image();
	ASSERT_TRUE(record_image(image, dir / "whole.db").ok());
	const auto expected = ids(dir / "whole.db");
	ASSERT_FALSE(expected.empty());

	/* A kill leaves what was committed; the next recorder starts from there. */
	NoSymbols symbols;
	for (std::size_t step = 500; step < image.log.size(); step += 777) {
		GrowingSource source(image);
		source.visible = step;
		auto store = StoreWriter::open(file);
		ASSERT_TRUE(store.ok());
		Recorder recorder(source, *store, symbols, {});
		ASSERT_TRUE(recorder.attach("kmod", "boot-1", "").ok());
		EXPECT_EQ(recorder.resumed(), step != 500);
		ASSERT_TRUE(recorder.drain().ok());
	}
	ASSERT_TRUE(record_image(image, file).ok());
	EXPECT_EQ(ids(file), expected);
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.runs.size(), 1u);
	EXPECT_EQ(model.observations.size(), 41u);
}

TEST_F(RecorderTest, AFailedSnapshotLosesNothingOfTheLog)
{
	GrowingSource source(sample().image());
	source.visible = sample().image().log.size();
	source.fail_chains = true;
	NoSymbols symbols;
	auto store = StoreWriter::open(file);
	Recorder recorder(source, *store, symbols, {});
	ASSERT_TRUE(recorder.attach("kmod", "boot-1", "").ok());
	ASSERT_TRUE(recorder.drain().ok());
	EXPECT_FALSE(recorder.snapshot().ok());
	EXPECT_FALSE(ids(file).empty());
}

TEST_F(RecorderTest, OtherBootOrLoadIsAnotherRun)
{
	ASSERT_TRUE(record_image(sample().image(), file, "boot-1").ok());
	ASSERT_TRUE(record_image(sample().image(), file, "boot-2").ok());
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.runs.size(), 2u);
}

TEST_F(RecorderTest, NoKernelAddressReachesTheStore)
{
	ASSERT_TRUE(record_image(sample().image(), file).ok());
	auto db = open_store(file, Access::Read);
	ASSERT_TRUE(db.ok());
	/* Upper half of the address space, as a number or as bytes of a blob. */
	for (const char *query :
	     {"SELECT count(*) FROM sight WHERE lock BETWEEN -140737488355328 AND -1 AND"
	      " (lock >> 47) = -1",
	      "SELECT count(*) FROM sight WHERE instr(held, x'8188ffff')",
	      "SELECT count(*) FROM code WHERE hash IS NOT NULL AND (hash >> 47) = -1 AND open = "
	      "0"})
		EXPECT_EQ(*db->query_integer(query), 0) << query;
	EXPECT_EQ(slurp(file).find(std::string("\x00\x10\x00\x00\x80\x88\xff\xff", 8)),
		  std::string::npos);
}

TEST_F(RecorderTest, SameInstanceSameHashAndDifferentOnesDiffer)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{.cls = a, .address = 0x100}}, {.cls = b});
	log.acquire({}, {{.cls = a, .address = 0x100}}, {.cls = b});
	log.acquire({}, {{.cls = a, .address = 0x200}}, {.cls = b});
	const Model model = model_of(log);
	EXPECT_EQ(model.observations[0].held[0].instance, model.observations[1].held[0].instance);
	EXPECT_NE(model.observations[0].held[0].instance, model.observations[2].held[0].instance);
	EXPECT_NE(model.observations[0].held[0].instance, 0x100u);
}

TEST_F(RecorderTest, LocksOfOneObjectShareItsHash)
{
	LogBuilder log;
	const auto a = log.add_class("cache+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64);
	const auto b = log.add_class("cache+0x20", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 32, 64);
	log.acquire({}, {{.cls = a, .address = 0x1008}}, {.cls = b, .address = 0x1020});
	log.acquire({}, {{.cls = a, .address = 0x1008}}, {.cls = b, .address = 0x2020});
	const Model model = model_of(log);
	EXPECT_EQ(model.observations[0].held[0].object, model.observations[0].acquired.object);
	EXPECT_NE(model.observations[1].held[0].object, model.observations[1].acquired.object);
	EXPECT_NE(model.observations[0].acquired.object, 0u);
}

TEST_F(RecorderTest, SymbolRecordWinsOverLiveTableForEarlierRecordsOnly)
{
	LogBuilder log;
	const auto a = log.add_class("a");
	log.acquire({}, {}, {.cls = a, .function = "gone"});
	const Image first = log.image(); /* symbols of the module that goes */
	ls_rec_stack stack{};
	stack.hdr = {sizeof(stack) + 8, LS_REC_STACK, 0};
	stack.id = 100;
	stack.nr = 1;
	std::vector<std::byte> bytes(first.log);
	std::uint64_t ip = 0xffffffff81000020u; /* the same address, used again */
	const auto *s = reinterpret_cast<const std::byte *>(&stack);
	const auto *i = reinterpret_cast<const std::byte *>(&ip);
	bytes.insert(bytes.end(), s, s + sizeof(stack));
	bytes.insert(bytes.end(), i, i + 8);
	Image image = first;
	image.log = bytes;

	auto source = image_source(image);
	auto store = StoreWriter::open(file);
	OneName symbols("newcomer");
	Recorder recorder(*source, *store, symbols, {});
	ASSERT_TRUE(recorder.attach("kmod", "boot-1", "").ok());
	ASSERT_TRUE(recorder.drain().ok());
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model[model.observations[0].acquired.at].function, "gone");
	EXPECT_EQ(model[model.observations[0].stack[0]].function, "gone");
	auto db = open_store(file, Access::Read);
	EXPECT_EQ(*db->query_integer("SELECT count(*) FROM code WHERE function = 'newcomer'"), 1);
}

TEST_F(RecorderTest, ResetForgetsSightsButNotClasses)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2}, {{.cls = b}}, {.cls = a});
	log.reset();
	log.acquire({.pid = 3}, {{.cls = a}}, {.cls = b});
	const Model model = model_of(log);
	EXPECT_EQ(model.classes.size(), 2u);
	ASSERT_EQ(model.observations.size(), 1u);
	EXPECT_EQ(model.observations[0].ordinal, 2u);
	EXPECT_TRUE(analyse(model).findings.empty());
}

TEST_F(RecorderTest, MalformedRecordsAreCountedAndNumbersStayRight)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	ls_rec_sight bad{};
	bad.hdr = {sizeof(bad), LS_REC_SIGHT, 0};
	log.raw(&bad, sizeof(bad));
	log.acquire({}, {{.cls = a}}, {.cls = b});
	const Model model = model_of(log);
	ASSERT_EQ(model.observations.size(), 1u);
	EXPECT_EQ(model.observations[0].ordinal, 1u);
	EXPECT_EQ(model.counter(kMalformedCounter), 1u);
}

TEST_F(RecorderTest, BrokenLogIsAnErrorAndKeepsWhatCameBefore)
{
	LogBuilder log;
	log.add_class("a");
	Image image = log.image();
	const ls_rec broken{4, LS_REC_CLASS, 0};
	const auto *bytes = reinterpret_cast<const std::byte *>(&broken);
	image.log.insert(image.log.end(), bytes, bytes + sizeof(broken));
	auto recorded = record_image(image, file);
	ASSERT_FALSE(recorded.ok());
	EXPECT_NE(recorded.error().what.find("damaged at byte"), std::string::npos);
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.classes.size(), 1u);
	EXPECT_EQ(model.counter(kMalformedCounter), 1u);
}

TEST_F(RecorderTest, OtherMajorAbiIsRefused)
{
	LogBuilder log;
	log.info().abi_major++;
	auto recorded = record_image(log.image(), file);
	ASSERT_FALSE(recorded.ok());
	EXPECT_NE(recorded.error().what.find("ABI"), std::string::npos);
	EXPECT_FALSE(recorded.error().hint.empty());
}

TEST_F(RecorderTest, ImpossibleChainsAreLeftOut)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{.cls = a}}, {.cls = b});
	Image image = log.image();
	image.chains.push_back({99, a, 0, 1, 0});
	image.chains.push_back({1, 0, 0, 1, 0});
	ASSERT_TRUE(record_image(image, file).ok());
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.runs[0].chains.size(), 3u);
}

TEST_F(RecorderTest, UnitedClassesAreOneClass)
{
	LogBuilder log;
	const auto a = log.add_class("a"), again = log.add_class("a"), b = log.add_class("b");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2}, {{.cls = b}}, {.cls = again});
	EXPECT_EQ(analyse(model_of(log)).findings.size(), 1u);
}

TEST_F(RecorderTest, EndOfTheRunErasesItsKey)
{
	auto source = image_source(sample().image());
	auto store = StoreWriter::open(file);
	NoSymbols symbols;
	Recorder recorder(*source, *store, symbols, {});
	ASSERT_TRUE(recorder.attach("kmod", "boot-1", "").ok());
	ASSERT_TRUE(recorder.drain().ok());
	ASSERT_TRUE(recorder.end().ok());
	auto db = open_store(file, Access::Read);
	EXPECT_EQ(*db->query_integer("SELECT count(*) FROM run WHERE key IS NOT NULL"), 0);
	EXPECT_EQ(*db->query_integer("SELECT count(*) FROM code WHERE hash IS NOT NULL"), 0);
}
