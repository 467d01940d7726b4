// SPDX-License-Identifier: GPL-2.0
// Memory accesses from the log through the store into the model.
#include "support.h"

#include "log/log.h"
#include "model/counters.h"
#include "model/variable.h"
#include "record/recorder.h"
#include "store/merge.h"
#include "store/schema.h"

#include <cstring>
#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/* The lock of another object than the one that was seen first. */
constexpr std::uint64_t kOther = 0xffff888000002010u;

/* One object type, two ways of accessing it, one race between them. */
struct Scene {
	explicit Scene(std::uint64_t instance = 1) : log(instance)
	{
		lock = log.add_class("foo_cache+0x10 struct foo.lock", LS_KIND_SPINLOCK,
				     LS_ORIGIN_SLAB, 0x10, 64);
		data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
		locked = log.access({.pid = 7, .comm = "writer", .stack = {"foo_ioctl"}},
				    {.data = data,
				     .offset = 8,
				     .size = 4,
				     .function = "foo_add",
				     .guards = {{{.cls = lock,
						  .address = 0xffff888000000010u,
						  .function = "foo_lock"},
						 LS_REL_SELF,
						 0x10}},
				     .count = 20});
		bare = log.access({.pid = 8, .level = LS_SOFTIRQ, .stack = {"foo_timer"}},
				  {.data = data,
				   .offset = 8,
				   .size = 4,
				   .op = LS_ACC_READ,
				   .function = "foo_show",
				   .where = LS_WHERE_RCU});
		log.race(locked, bare, LS_RACE_CAUGHT, {{locked, 7, 0x0f, 1}});
		log.side(locked, {.pid = 9, .comm = "racer", .cpu = LS_CPU_UNKNOWN}, LS_SIDE_TASK,
			 {kOther});
		log.side(bare, {.pid = 8, .cpu = 1, .stack = {"bar_timer"}},
			 LS_SIDE_SECOND | LS_SIDE_TASK, {}, true);
		log.history(locked, LS_VIRGIN, LS_EXCLUSIVE_TO);
		log.history(bare, LS_EXCLUSIVE_TO, LS_SHARED_READ, 1,
			    {{.cls = lock, .address = 0xffff888000000010u}});
	}

	LogBuilder log;
	std::uint32_t lock, data, locked, bare;
};

/* The last record of a log, for a test to spoil. */
template <typename Raw> Raw *last(std::vector<std::byte> &bytes)
{
	std::size_t at = 0, previous = 0;
	while (at < bytes.size()) {
		ls_rec header;
		std::memcpy(&header, bytes.data() + at, sizeof(header));
		previous = at;
		at += header.len;
	}
	return reinterpret_cast<Raw *>(bytes.data() + previous);
}

void expect_refused(const std::vector<std::byte> &bytes, const char *words)
{
	LogDecoder decoder;
	std::vector<LogRecord> records;
	EXPECT_EQ(decoder.decode(bytes, records), bytes.size());
	EXPECT_EQ(decoder.malformed(), 1u) << words;
	EXPECT_FALSE(decoder.broken());
	EXPECT_NE(decoder.problem().find(words), std::string::npos) << decoder.problem();
}

template <typename Raw, typename Spoil>
void spoiled(const LogBuilder &log, const char *words, Spoil spoil)
{
	auto bytes = log.log();
	spoil(*last<Raw>(bytes));
	expect_refused(bytes, words);
}

} // namespace

TEST(AccessRecords, AreDecoded)
{
	const Scene scene;
	LogDecoder decoder;
	std::vector<LogRecord> records;
	decoder.decode(scene.log.log(), records);
	EXPECT_EQ(decoder.malformed(), 0u);
	EXPECT_EQ(decoder.unknown(), 0u);
	std::size_t accesses = 0, races = 0, changes = 0, sides = 0;
	for (const auto &record : records) {
		if (const auto *access = std::get_if<AccessRecord>(&record)) {
			accesses++;
			EXPECT_EQ(access->offset, 8u);
			EXPECT_EQ(access->guards.size(), access->id == scene.locked ? 1u : 0u);
		}
		if (const auto *race = std::get_if<RaceRecord>(&record)) {
			races++;
			ASSERT_EQ(race->history.size(), 1u);
			EXPECT_EQ(race->history[0].bytes, 0x0f);
		}
		if (const auto *side = std::get_if<SideRecord>(&record)) {
			sides++;
			EXPECT_EQ(side->locks.size(), side->access == scene.locked ? 1u : 0u);
			EXPECT_EQ(side->comm.empty(), false);
		}
		if (const auto *change = std::get_if<HistoryRecord>(&record))
			changes += 1 + change->locks.size();
	}
	EXPECT_EQ(accesses, 2u);
	EXPECT_EQ(races, 1u);
	EXPECT_EQ(sides, 2u);
	EXPECT_EQ(changes, 3u);
}

TEST(AccessRecords, MalformedDataIsRefused)
{
	LogBuilder log;
	log.add_data("stats");
	spoiled<ls_rec_data>(log, "impossible id", [](auto &r) { r.id = 0; });
	spoiled<ls_rec_data>(log, "unknown kind", [](auto &r) { r.kind = LS_NR_DATA_KINDS; });
	spoiled<ls_rec_data>(log, "unknown kind", [](auto &r) { r.kind = 0; });
	spoiled<ls_rec_data>(log, "does not end",
			     [](auto &r) { std::memset(r.name, 'x', LS_NAME_MAX); });
	spoiled<ls_rec_data>(log, "does not end", [](auto &r) { r.name[0] = 0; });
}

TEST(AccessRecords, MalformedAccessesAreRefused)
{
	Scene scene;
	scene.log.access(
		{}, {.data = scene.data,
		     .guards = {{.lock = {.cls = scene.lock}}, {.lock = {.cls = scene.lock}}}});
	const LogBuilder &log = scene.log;
	spoiled<ls_rec_access>(log, "impossible id", [](auto &r) { r.id = 0; });
	spoiled<ls_rec_access>(log, "does not fit", [](auto &r) { r.nr_guards = 1; });
	spoiled<ls_rec_access>(log, "does not fit", [](auto &r) { r.nr_guards = 65535; });
	spoiled<ls_rec_access>(log, "neither reads nor writes",
			       [](auto &r) { r.op = LS_ACC_MARKED; });
	spoiled<ls_rec_access>(log, "neither reads nor writes", [](auto &r) { r.size = 0; });
	spoiled<ls_rec_access>(log, "does not end",
			       [](auto &r) { std::memset(r.comm, 'x', LS_COMM_LEN); });
	spoiled<ls_rec_access>(log, "impossible lock",
			       [](auto &r) { r.guards[1].val |= LS_VAL_READ_MASK; });
}

TEST(AccessRecords, MalformedRacesAndHistoriesAreRefused)
{
	Scene scene;
	scene.log.race(1, 2, 0, {{}, {}});
	spoiled<ls_rec_race>(scene.log, "does not fit", [](auto &r) { r.nr = 3; });
	spoiled<ls_rec_race>(scene.log, "does not fit", [](auto &r) { r.nr = 0xffffffff; });
	spoiled<ls_rec_race>(scene.log, "without an id", [](auto &r) { r.id = 0; });
	spoiled<ls_rec_race>(scene.log, "without an id", [](auto &r) { r.second = 0; });
	scene.log.side(1, {}, LS_SIDE_TASK, {kOther});
	spoiled<ls_rec_side>(scene.log, "does not fit", [](auto &r) { r.nr_locks = 0; });
	spoiled<ls_rec_side>(scene.log, "does not fit", [](auto &r) { r.nr_locks = 65535; });
	spoiled<ls_rec_side>(scene.log, "without a race", [](auto &r) { r.race = 0; });
	spoiled<ls_rec_side>(scene.log, "without a race", [](auto &r) { r.access = 0; });
	spoiled<ls_rec_side>(scene.log, "does not end",
			     [](auto &r) { std::memset(r.comm, 'x', LS_COMM_LEN); });
	scene.log.history(1, LS_VIRGIN, LS_EXCLUSIVE_TO);
	spoiled<ls_rec_history>(scene.log, "unknown state", [](auto &r) { r.after = 4; });
	spoiled<ls_rec_history>(scene.log, "unknown state", [](auto &r) { r.before = 255; });
}

TEST(AccessModel, HoldsWhatWasRecorded)
{
	const Scene scene;
	const Model model = model_of(scene.log);
	ASSERT_EQ(model.accesses.size(), 2u);
	const auto &locked = model.accesses[0], &bare = model.accesses[1];
	EXPECT_EQ(model[locked.data].name, "foo_cache");
	EXPECT_EQ(locked.data, bare.data);
	EXPECT_TRUE(locked.writes());
	EXPECT_FALSE(locked.reads());
	EXPECT_EQ(locked.count, 20u);
	EXPECT_EQ(locked.comm, "writer");
	EXPECT_EQ(model[locked.at].function, "foo_add");
	ASSERT_EQ(locked.stack.size(), 2u);
	EXPECT_EQ(model[locked.stack[1]].function, "foo_ioctl");
	ASSERT_EQ(locked.guards.size(), 1u);
	EXPECT_EQ(locked.guards[0].name, "self.lock");
	EXPECT_EQ(model[locked.guards[0].at].function, "foo_lock");
	EXPECT_EQ(lockset_of(locked), std::vector<std::string>{"self.lock"});
	EXPECT_EQ(lockset_of(bare), (std::vector<std::string>{"bh", "rcu"}));

	ASSERT_EQ(model.races.size(), 1u);
	EXPECT_EQ(model.races[0].first, 0u);
	EXPECT_EQ(model.races[0].second, 1u);
	ASSERT_EQ(model.races[0].history.size(), 1u);
	EXPECT_TRUE(model.races[0].history[0].initial);
	const auto &first = model.races[0].sides[0], &second = model.races[0].sides[1];
	EXPECT_TRUE(first.known && first.task && second.known && second.task);
	EXPECT_EQ(first.comm, "racer");
	EXPECT_EQ(first.pid, 9u);
	EXPECT_FALSE(first.cpu);
	EXPECT_TRUE(first.stack.empty());
	ASSERT_EQ(first.locks.size(), 1u);
	EXPECT_NE(first.locks[0], 0u);
	EXPECT_NE(first.locks[0], locked.guards[0].instance);
	EXPECT_EQ(second.cpu, 1u);
	ASSERT_EQ(second.stack.size(), 2u);
	EXPECT_EQ(second.stack[0], bare.at);
	EXPECT_EQ(model[second.stack[1]].function, "bar_timer");
	ASSERT_EQ(model.histories.size(), 2u);
	EXPECT_EQ(model.histories[0].granule, model.races[0].granule);
	/* The candidate can be found among the guards. */
	ASSERT_EQ(model.histories[1].locks.size(), 1u);
	EXPECT_EQ(model.histories[1].locks[0], locked.guards[0].instance);
	EXPECT_EQ(model.counter(kAccessesCounter), 21u);
}

TEST(AccessModel, AProbesPlaceIsOneWithItsStacks)
{
	LogBuilder log;
	const auto data = log.add_data("jiffies_like");
	log.access(
		{.stack = {"caller"}},
		{.data = data, .op = LS_ACC_READ | LS_ACC_PROBE, .function = "reader", .at = 48});
	const Model model = model_of(log);
	ASSERT_EQ(model.accesses.size(), 1u);
	/* Its line is that of the byte before 49. */
	EXPECT_EQ(model[model.accesses[0].stack.front()].function, "reader");
	EXPECT_EQ(model.accesses[0].stack.size(), 2u);
}

TEST(AccessModel, RacesWithoutBothSidesAreLeftOut)
{
	Scene scene;
	scene.log.race(scene.locked, 4711);
	scene.log.history(4711, LS_VIRGIN, LS_EXCLUSIVE_TO);
	const Model model = model_of(scene.log);
	EXPECT_EQ(model.races.size(), 1u);
	EXPECT_EQ(model.histories.size(), 2u);
}

TEST(AccessModel, WhoWasAloneIsKeptUntilOthersCome)
{
	LogBuilder log;
	const auto data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	log.access({}, {.data = data, .function = "maker", .count = 3, .alone = true});
	log.access({}, {.data = data, .function = "user", .count = 2});
	log.access({}, {.data = data, .function = "lost", .count = 0, .alone = true});
	auto alone = [](const Model &model) {
		std::vector<bool> out;
		for (const auto &access : model.accesses)
			out.push_back(access.alone);
		return out;
	};
	TempDir dir;
	const std::string store = dir / "lockscope.db";
	ASSERT_TRUE(record_image(log.image(), store, "boot").ok());
	auto model = load_stores({store});
	ASSERT_TRUE(model.ok());
	EXPECT_EQ(alone(*model), (std::vector<bool>{true, false, false}));
	EXPECT_EQ(model->accesses[0].count, 3u);
	EXPECT_EQ(model->accesses[1].count, 2u);

	/* The module goes on counting, and the recorder reads again. */
	Image later = log.image();
	later.access_counts[0] |= LS_COUNT_SHARED;
	ASSERT_TRUE(record_image(later, store, "boot").ok());
	model = load_stores({store});
	EXPECT_EQ(alone(*model), (std::vector<bool>{false, false, false}));

	/* An older module, and an older store. */
	log.info().abi_minor = 3;
	EXPECT_EQ(alone(model_of(log)), (std::vector<bool>{false, false, false}));
	log.info().abi_minor = LS_ABI_MINOR;
	const std::string old = dir / "old.db";
	ASSERT_TRUE(record_image(log.image(), old, "boot").ok());
	age_store(old, kAloneSchema - 1);
	model = load_stores({old});
	ASSERT_TRUE(model.ok());
	EXPECT_EQ(alone(*model), (std::vector<bool>{false, false, false}));
}

namespace {

/* Objects of foo_cache have a pointer to their owner at 8. */
class FooNamer final : public DataNamer {
public:
	std::string type(const DataRecord &) override { return "struct foo"; }
	std::string member(const DataRecord &, std::uint32_t offset, ls_kind lock) override
	{
		return lock == LS_KIND_NONE ? (offset == 8 ? "owner" : "count") : "lock";
	}
	std::string pointee(const DataRecord &, std::uint32_t via, std::uint32_t offset,
			    ls_kind lock) override
	{
		return via == 8 && offset == 0x450 && lock == LS_KIND_SPINLOCK
			       ? "struct journal_s.j_list_lock"
			       : "";
	}
};

} // namespace

TEST(AccessModel, LocksBehindPointersAreNamedByThePointersType)
{
	LogBuilder log;
	const auto lock = log.add_class("kmalloc-2k+0x450 @ journal_init", LS_KIND_SPINLOCK,
					LS_ORIGIN_ALLOC, 0x450, 2048);
	const auto data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	for (std::uint16_t via : {8, 16})
		log.access({}, {.data = data,
				.function = "by" + std::to_string(via),
				.guards = {{.lock = {.cls = lock},
					    .relation = LS_REL_VIA,
					    .lock_offset = 0x450,
					    .via = via}}});
	log.access({}, {.data = data,
			.function = "own",
			.guards = {{.lock = {.cls = lock},
				    .relation = LS_REL_SELF,
				    .lock_offset = 0x20}}});
	TempDir dir;
	const std::string store = dir / "lockscope.db", merged = dir / "merged.db";
	{
		auto source = image_source(log.image());
		auto writer = StoreWriter::open(store);
		ASSERT_TRUE(writer.ok());
		NoSymbols symbols;
		FooNamer namer;
		Recorder recorder(*source, *writer, symbols, {});
		recorder.name_data_by(namer);
		ASSERT_TRUE(recorder.attach("kmod", "boot", "0123456789abcdef").ok());
		ASSERT_TRUE(recorder.drain().ok());
		ASSERT_TRUE(recorder.snapshot().ok());
	}
	ASSERT_TRUE(merge_stores({store}, merged).ok());
	for (const auto &file : {store, merged}) {
		auto model = load_stores({file});
		ASSERT_TRUE(model.ok());
		auto guard = [&](std::size_t i) { return model->accesses.at(i).guards.at(0); };
		EXPECT_EQ(guard(0).name, "via owner .j_list_lock");
		EXPECT_EQ(guard(0).place, "journal_s.j_list_lock");
		EXPECT_EQ(guard(1).name, "via count +0x450");
		EXPECT_EQ(guard(1).place, "");
		EXPECT_EQ(guard(2).name, "self.lock");
		EXPECT_EQ(guard(2).place, "foo.lock");
	}
}

TEST(AccessModel, NamesOfData)
{
	LogBuilder log;
	const auto stat = log.add_data("stats", LS_DATA_STATIC, 0, "foo"),
		   cpu = log.add_data("percpu:runs", LS_DATA_PERCPU),
		   made = log.add_data("foo_alloc", LS_DATA_ALLOC, 64, "foo"),
		   other = log.add_data("copy_it", LS_DATA_OTHER);
	for (auto data : {stat, cpu, made, other, 0u})
		log.access({}, {.data = data, .offset = data == cpu ? 0u : 8u});
	const Model model = model_of(log);
	std::vector<std::string> names;
	for (const auto &access : model.accesses)
		names.push_back(variable_of(model, access).name);
	EXPECT_EQ(names, (std::vector<std::string>{
				 "foo:stats+0x8", "percpu:runs", "object+0x8 @ foo_alloc",
				 "memory accessed in copy_it", "memory without a name"}));
}

TEST(AccessModel, MembersAreNamedWhereTypesAreKnown)
{
	Model model;
	LockClass lock;
	lock.name = "super_cache+0x20 struct super.list_lock";
	Guard guard;
	guard.relation = LS_REL_VIA;
	guard.via = 8;
	guard.lock_offset = 0x20;
	EXPECT_EQ(guard_name(&lock, guard, "", "i_sb", ""), "via i_sb .list_lock");
	EXPECT_EQ(guard_name(nullptr, guard, "", "", ""), "via +0x8 +0x20");
	guard.relation = LS_REL_SELF;
	EXPECT_EQ(guard_name(&lock, guard, "lock", "", ""), "self.lock");
	EXPECT_EQ(guard_name(nullptr, guard, "", "", ""), "self+0x20");
	guard.relation = LS_REL_STATIC;
	EXPECT_EQ(guard_name(&lock, guard, "", "", ""), lock.name);

	MemoryAccess access;
	Data data;
	data.kind = LS_DATA_SLAB;
	data.name = "c";
	data.type = "struct foo";
	access.data = model.intern(data);
	access.offset = 16;
	access.member = "stats.rx";
	const Variable variable = variable_of(model, access);
	EXPECT_EQ(variable.name, "c+0x10 struct foo.stats.rx");
	EXPECT_EQ(variable.stable, "c struct foo.stats.rx");
	EXPECT_EQ(variable.brief, "struct foo.stats.rx");
	EXPECT_EQ(variable.type, "struct foo.stats.rx");
}

TEST(AccessStore, NoKernelAddressReachesIt)
{
	const Scene scene;
	TempDir dir;
	ASSERT_TRUE(record_image(scene.log.image(), dir / "store.db").ok());
	const std::string bytes = slurp(dir / "store.db");
	for (std::uint64_t address :
	     {0xffff888000000010u, 0xffff888000001000u, 0xffff888000001000u / 8, kOther})
		EXPECT_EQ(bytes.find(std::string(reinterpret_cast<const char *>(&address), 8)),
			  std::string::npos);
}

TEST(AccessStore, RowsThatMakeNoSense)
{
	TempDir dir;
	const std::string file = dir / "store.db";
	for (const char *spoil :
	     {"UPDATE data SET kind = 0", "UPDATE data SET kind = 99", "UPDATE access SET op = 4",
	      "UPDATE access SET size = 0", "UPDATE access SET guards = x'00'",
	      "UPDATE race SET history = x'00'", "UPDATE side SET locks = x'00'",
	      "UPDATE side SET second = 2 WHERE second = 1", "UPDATE history SET after = 9",
	      "UPDATE history SET locks = x'00'"}) {
		std::filesystem::remove(file);
		ASSERT_TRUE(record_image(Scene().log.image(), file).ok());
		{
			auto db = Database::open(file, Access::Write);
			ASSERT_TRUE(db->exec(spoil).ok()) << spoil;
		}
		Model model;
		auto loaded = load_store(file, model);
		ASSERT_FALSE(loaded.ok()) << spoil;
		EXPECT_NE(loaded.error().what.find("makes no sense"), std::string::npos);
	}
}

TEST(AccessStore, OlderStoresHaveNoneAndGetTheTables)
{
	TempDir dir;
	const std::string file = dir / "store.db";
	for (int version : {1, 2, 3}) {
		std::filesystem::remove(file);
		ASSERT_TRUE(record_image(Scene(1).log.image(), file, "boot-1").ok());
		age_store(file, version);
		Model old;
		ASSERT_TRUE(load_store(file, old).ok());
		EXPECT_TRUE(old.accesses.empty());
		ASSERT_TRUE(record_image(Scene(2).log.image(), file, "boot-2").ok());
		Model both;
		ASSERT_TRUE(load_store(file, both).ok());
		EXPECT_EQ(both.accesses.size(), 2u);
		EXPECT_EQ(both.races.size(), 1u);
	}
}

TEST(AccessStore, SidesOfAnotherRecordOfTheRaceAreNotItsOwn)
{
	TempDir dir;
	const std::string file = dir / "store.db";
	for (const char *change :
	     {"UPDATE race SET time = time + 1", "UPDATE side SET access = 3 - access",
	      "UPDATE side SET locks = x''", "DELETE FROM side"}) {
		std::filesystem::remove(file);
		ASSERT_TRUE(record_image(Scene().log.image(), file).ok());
		ASSERT_TRUE(Database::open(file, Access::Write)->exec(change).ok());
		Model model;
		ASSERT_TRUE(load_store(file, model).ok()) << change;
		ASSERT_EQ(model.races.size(), 1u);
		EXPECT_FALSE(model.races[0].sides[0].known) << change;
	}
}

TEST(AccessStore, OlderStoresHaveRacesWithoutTheirSides)
{
	TempDir dir;
	const std::string file = dir / "store.db";
	ASSERT_TRUE(record_image(Scene(1).log.image(), file, "boot-1").ok());
	age_store(file, kSideSchema - 1);
	Model old;
	ASSERT_TRUE(load_store(file, old).ok());
	ASSERT_EQ(old.races.size(), 1u);
	EXPECT_FALSE(old.races[0].sides[0].known);
	ASSERT_TRUE(record_image(Scene(2).log.image(), file, "boot-2").ok());
	Model both;
	ASSERT_TRUE(load_store(file, both).ok());
	ASSERT_EQ(both.races.size(), 2u);
	EXPECT_FALSE(both.races[0].sides[1].known);
	EXPECT_TRUE(both.races[1].sides[1].known);
}

TEST(AccessStore, MergedRunsKeepTheirAccessesApart)
{
	TempDir dir;
	ASSERT_TRUE(record_image(Scene(1).log.image(), dir / "1.db", "boot-1").ok());
	ASSERT_TRUE(record_image(Scene(2).log.image(), dir / "2.db", "boot-2").ok());
	ASSERT_TRUE(record_image(Scene(3).log.image(), dir / "3.db", "boot-3").ok());
	age_store(dir / "3.db", 2);
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "2.db", dir / "3.db"}, dir / "all.db").ok());
	Model model;
	ASSERT_TRUE(load_store(dir / "all.db", model).ok());
	ASSERT_EQ(model.accesses.size(), 4u);
	EXPECT_EQ(model.data.size(), 1u);
	EXPECT_EQ(model.races.size(), 2u);
	EXPECT_TRUE(model.races[1].sides[0].known);
	EXPECT_EQ(model.races[1].run, model.accesses[model.races[1].first].run);
	EXPECT_EQ(model.histories.size(), 4u);
}

TEST(AccessStore, AResetForgetsThem)
{
	Scene scene;
	scene.log.reset();
	const Model model = model_of(scene.log);
	EXPECT_TRUE(model.accesses.empty());
	EXPECT_TRUE(model.races.empty());
	EXPECT_TRUE(model.histories.empty());
}

TEST(AccessStore, AnImageKeepsThem)
{
	const Image image = Scene().log.image();
	auto again = decode_image(encode_image(image), "image");
	ASSERT_TRUE(again.ok());
	ASSERT_TRUE(again->accesses.has_value());
	EXPECT_EQ(again->accesses->seen, 21u);
	EXPECT_EQ(again->access_counts,
		  (std::vector<std::uint32_t>{20 | LS_COUNT_SHARED, 1 | LS_COUNT_SHARED}));
	EXPECT_EQ(again->log.size(), image.log.size());
	std::string cut = encode_image(image);
	cut.resize(cut.size() - image.log.size() - 2);
	EXPECT_FALSE(decode_image(cut, "image").ok());
}

TEST(AccessStore, AModuleThatDoesNotWatchThemIsRecordedAsBefore)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{.cls = a}}, {.cls = b});
	EXPECT_FALSE(log.image().accesses.has_value());
	const Model model = model_of(log);
	EXPECT_EQ(model.observations.size(), 1u);
	EXPECT_EQ(model.runs[0].counters.count(kAccessesCounter), 0u);
	auto source = image_source(log.image());
	auto controlled = source->access_control({});
	ASSERT_FALSE(controlled.ok());
	EXPECT_EQ(controlled.error().code, ENOTTY);
	EXPECT_FALSE(controlled.error().hint.empty());
}
