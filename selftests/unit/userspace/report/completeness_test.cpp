// SPDX-License-Identifier: GPL-2.0
// What a run has to have to be called clean; each reason beside a run without it.
#include "support.h"

#include "model/counters.h"
#include "report/completeness.h"
#include "store/schema.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

Model whole()
{
	Model model;
	Run run;
	run.backend = "kmod";
	run.counters["acquisitions"] = 100000;
	run.counters[kAccessesCounter] = 1000;
	for (std::uint32_t i = 0; i < 198; i++)
		run.observations[i] = i;
	model.runs.push_back(std::move(run));
	return model;
}

std::string reasons(const Model &model)
{
	std::string out;
	for (const auto &why : incompleteness(model))
		out += (out.empty() ? "" : " ") + why.reason;
	return out;
}

/// Records a lock taken, without an end of the run unless there is one.
std::string stored(const TempDir &dir, const std::string &backend, std::optional<RunEnd> end)
{
	LogBuilder log;
	log.acquire({}, {}, {.cls = log.add_class("foo_lock")});
	const std::string file = dir / "store.db";
	auto source = image_source(log.image());
	auto writer = StoreWriter::open(file);
	EXPECT_TRUE(writer.ok());
	NoSymbols symbols;
	Recorder recorder(*source, *writer, symbols, {});
	EXPECT_TRUE(recorder.attach(backend, "boot", "").ok());
	EXPECT_TRUE(recorder.drain().ok());
	if (end) {
		EXPECT_TRUE(recorder.snapshot().ok());
		EXPECT_TRUE(recorder.set_finish(*end, "disk full").ok());
	}
	return file;
}

std::string reasons_of(const std::string &file)
{
	auto model = load_stores({file});
	return model ? reasons(*model) : model.error().what;
}

} // namespace

TEST(Completeness, AWholeRunIsComplete)
{
	EXPECT_EQ(reasons(whole()), "");
	EXPECT_EQ(reasons(Model{}), "no-runs");
}

TEST(Completeness, LossesCountBeyondTheirBounds)
{
	struct {
		const char *counter;
		std::uint64_t most;
	} const bounds[] = {{kLosses[LS_LOSS_RECURSION].stored, 100},
			    {kLosses[LS_LOSS_CHAINS].stored, 100},
			    {kLosses[LS_LOSS_RECORDS].stored, 2},
			    {kMalformedCounter, 2},
			    {kAccessLosses[LS_ALOSS_EVENTS].name, 100}};
	for (const auto &bound : bounds) {
		Model model = whole();
		model.runs[0].counters[bound.counter] = bound.most;
		EXPECT_EQ(reasons(model), "") << bound.counter;
		model.runs[0].counters[bound.counter] = bound.most + 1;
		EXPECT_EQ(reasons(model), "lossy") << bound.counter;
	}
}

TEST(Completeness, TheEndOfARunIsStored)
{
	TempDir a, b, c, d;
	EXPECT_EQ(reasons_of(stored(a, "kmod", RunEnd::Finished)), "");
	EXPECT_EQ(reasons_of(stored(b, "kmod", {})), "interrupted");
	EXPECT_EQ(reasons_of(stored(c, "kmod", RunEnd::ModuleGone)), "module-gone");
	const std::string file = stored(d, "kmod", RunEnd::Failed);
	EXPECT_EQ(reasons_of(file), "failed");
	auto model = load_stores({file});
	ASSERT_TRUE(model.ok());
	EXPECT_NE(incompleteness(*model)[0].text.find("gave up: disk full"), std::string::npos);
}

TEST(Completeness, WithoutTheModuleThereIsNoCleanRun)
{
	TempDir a;
	EXPECT_EQ(reasons_of(stored(a, "bpf", RunEnd::Finished)), "no-module");
}

TEST(Completeness, NothingSeenIsNotClean)
{
	Model model = whole();
	model.runs[0].counters["acquisitions"] = 0;
	EXPECT_EQ(reasons(model), "empty");
}

TEST(Completeness, AStoreThatIsOpenForWritingIsStillRecorded)
{
	TempDir dir;
	const std::string file = stored(dir, "kmod", {});
	auto writer = StoreWriter::open(file);
	ASSERT_TRUE(writer.ok());
	EXPECT_EQ(reasons_of(file), "recording");
}

/* Before schema 7 the list of lock functions, which comes last, shows a run's end. */
TEST(Completeness, OlderStoresTellByTheirLockFunctions)
{
	LogBuilder log;
	log.acquire({}, {}, {.cls = log.add_class("foo_lock")});
	Image image = log.image();
	for (bool finished : {false, true}) {
		image.prims.assign(finished, ls_prim_info{});
		TempDir dir;
		ASSERT_TRUE(record_image(image, dir / "old.db").ok());
		age_store(dir / "old.db", 6);
		EXPECT_EQ(reasons_of(dir / "old.db"), finished ? "" : "interrupted");
		/* And the same once a writer has brought it up to date. */
		{
			auto writer = StoreWriter::open(dir / "old.db");
			ASSERT_TRUE(writer.ok());
		}
		EXPECT_EQ(reasons_of(dir / "old.db"), finished ? "" : "interrupted");
	}
}
