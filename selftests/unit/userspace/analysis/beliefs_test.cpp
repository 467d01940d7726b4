// SPDX-License-Identifier: GPL-2.0
// What counts say, and what follows from it for findings and reports.
#include "support.h"

#include "analysis/filters/beliefs.h"
#include "report/report.h"

#include <nlohmann/json.hpp>

#include <tuple>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/* A semaphore and a mutex in both orders. */
class BeliefTest : public testing::Test {
protected:
	BeliefTest()
	{
		sem = log.add_class("sem", LS_KIND_SEMAPHORE);
		mutex = log.add_class("mutex", LS_KIND_MUTEX);
		log.acquire({.pid = 1}, {{.cls = sem}}, {.cls = mutex});
		log.acquire({.pid = 2}, {{.cls = mutex}}, {.cls = sem});
	}

	static std::string text(const Model &model, bool rules)
	{
		ReportOptions options;
		options.rules = rules;
		return text_report(model, analyse(model), options, {200, false});
	}

	LogBuilder log;
	std::uint32_t sem = 0, mutex = 0;
};

ls_class_counts nesting(std::uint32_t cls, std::vector<std::uint32_t> nested)
{
	ls_class_counts counts{};
	counts.id = cls;
	std::copy(nested.begin(), nested.end(), counts.nested);
	return counts;
}

} // namespace

TEST_F(BeliefTest, ASignalClosesNoCycle)
{
	log.count_semaphore(sem, 20, 17);
	const Model model = model_of(log);
	const Finding finding = only_finding(model);
	const Filter *why = filter(finding, "counts-events");
	ASSERT_NE(why, nullptr);
	EXPECT_TRUE(finding.hidden());
	EXPECT_EQ(finding.confidence, Confidence::Possible);
	EXPECT_EQ(why->why, "sem is a signal, no lock: 17 of 20 releases by a task that had not "
			    "acquired it, z = 7.3");
}

TEST_F(BeliefTest, ALockDoes)
{
	for (auto [releases, unmatched] : {std::pair{20, 0}, {100, 2}, {0, 0}}) {
		LogBuilder copy = log;
		copy.count_semaphore(sem, static_cast<std::uint64_t>(releases),
				     static_cast<std::uint64_t>(unmatched), 4, 0);
		const Finding finding = only_finding(model_of(copy));
		EXPECT_EQ(filter(finding, "counts-events"), nullptr);
		EXPECT_EQ(filter(finding, "handed-over"), nullptr);
		EXPECT_EQ(finding.severity, Severity::Error);
		EXPECT_EQ(finding.confidence, Confidence::Observed);
	}
	/* Handed over now and then, or used for both: no error follows. */
	for (auto [releases, unmatched, most] : {std::tuple{20, 2, Severity::Warning},
						 {20, 10, Severity::Note},
						 {100, 3, Severity::Warning}}) {
		LogBuilder copy = log;
		copy.count_semaphore(sem, static_cast<std::uint64_t>(releases),
				     static_cast<std::uint64_t>(unmatched));
		const Finding finding = only_finding(model_of(copy));
		EXPECT_EQ(filter(finding, "counts-events"), nullptr);
		ASSERT_NE(filter(finding, "handed-over"), nullptr);
		EXPECT_FALSE(finding.hidden());
		EXPECT_EQ(finding.severity, most);
	}
	/* A module from before counts nothing. */
	EXPECT_FALSE(only_finding(model_of(log)).hidden());
}

/* Mostly released by their takers, but nearly all of them handed over at some time. */
TEST_F(BeliefTest, InstancesThatAreHandedOverCloseNoCycle)
{
	log.count_semaphore(sem, 2000, 100, 60, 55);
	const Finding finding = only_finding(model_of(log));
	const Filter *why = filter(finding, "counts-events");
	ASSERT_NE(why, nullptr);
	EXPECT_TRUE(finding.hidden());
	EXPECT_EQ(why->why, "sem is handed over, no lock: 100 of 2,000 releases by a task that had "
			    "not acquired it, z = -16.8; 55 of 60 semaphores handed over");
}

/* Each one was handed over, and too little was seen to call that an exception. */
TEST_F(BeliefTest, InstancesThatAreAllHandedOverAreNotProof)
{
	const struct {
		std::uint64_t releases, unmatched, instances, handed;
		Severity severity;
	} cases[] = {
		{2, 1, 1, 1, Severity::Note},	 {4, 2, 2, 2, Severity::Note},
		{4, 2, 3, 2, Severity::Warning}, {20, 1, 1, 1, Severity::Warning},
		{2, 1, 0, 0, Severity::Warning},
	};
	for (const auto &c : cases) {
		LogBuilder copy = log;
		copy.count_semaphore(sem, c.releases, c.unmatched, c.instances, c.handed);
		const Finding finding = only_finding(model_of(copy));
		EXPECT_FALSE(finding.hidden());
		EXPECT_EQ(finding.severity, c.severity) << c.unmatched << " of " << c.releases;
	}
}

/* A semaphore in each object: the instances in both orders have to be the same, or it is a note. */
TEST(Belief, HandedOverAndNeverTheSameInstancesIsANote)
{
	for (const bool same : {false, true})
		for (const __u16 handed : {0, 20}) {
			LogBuilder log;
			const auto sem =
				log.add_class("cell+0x20", LS_KIND_SEMAPHORE, LS_ORIGIN_SLAB);
			const auto mutex = log.add_class("mutex", LS_KIND_MUTEX);
			log.acquire({.pid = 1}, {{.cls = sem, .address = 0x108}},
				    {.cls = mutex, .address = 0x8});
			log.acquire({.pid = 2}, {{.cls = mutex, .address = 0x8}},
				    {.cls = sem, .address = same ? 0x108u : 0x208u});
			log.count_semaphore(sem, 2000, 20, 100, handed);
			const Finding finding = only_finding(model_of(log));
			EXPECT_FALSE(finding.hidden());
			EXPECT_EQ(finding.severity, same && !handed   ? Severity::Error
						    : same || !handed ? Severity::Warning
								      : Severity::Note)
				<< same << ", " << handed;
		}
}

TEST_F(BeliefTest, OnlySemaphoresCountEvents)
{
	log.count_semaphore(mutex, 20, 17);
	EXPECT_FALSE(only_finding(model_of(log)).hidden());
}

/* Waiting for events under one signal excludes nothing. */
TEST_F(BeliefTest, ASignalIsNoGate)
{
	LogBuilder gated;
	const auto events = gated.add_class("events", LS_KIND_SEMAPHORE);
	const auto a = gated.add_class("a"), b = gated.add_class("b");
	gated.acquire({.pid = 1}, {{.cls = events}, {.cls = a}}, {.cls = b});
	gated.acquire({.pid = 2}, {{.cls = events}, {.cls = b}}, {.cls = a});
	LogBuilder lock = gated;
	gated.count_semaphore(events, 9, 9);
	lock.count_semaphore(events, 9, 0);
	EXPECT_EQ(filter(only_finding(model_of(gated)), "gate-lock"), nullptr);
	EXPECT_NE(filter(only_finding(model_of(lock)), "gate-lock"), nullptr);
}

TEST_F(BeliefTest, ReportsShowTheNumbers)
{
	log.count_semaphore(sem, 20, 2);
	const Model model = model_of(log);
	const Analysis analysis = analyse(model);
	const auto json = nlohmann::json::parse(json_report(model, analysis, {}));
	const auto &classes = json["findings"][0]["classes"];
	const auto &of_sem = classes[0]["name"] == "sem" ? classes[0] : classes[1];
	const auto &of_mutex = classes[0]["name"] == "sem" ? classes[1] : classes[0];
	EXPECT_EQ(of_sem["semaphore"], nlohmann::json({{"acquires", 20},
						       {"releases", 20},
						       {"unmatched", 2},
						       {"unmatched_acquires", 2},
						       {"instances", 0},
						       {"handed_over", 0},
						       {"z", -1.12},
						       {"verdict", "lock"}}));
	EXPECT_FALSE(of_mutex.contains("semaphore"));
	EXPECT_EQ(json["semaphores"][0]["class"], "sem");
	EXPECT_EQ(json["semaphores"][0]["verdict"], "lock");

	const std::string line = "used as a lock: 2 of 20 releases by a task that had not "
				 "acquired it, z = -1.1";
	EXPECT_NE(text_finding(model, analysis.findings[0], {200, false}).find(line),
		  std::string::npos);
	EXPECT_EQ(text(model, false).find("sem: " + line), std::string::npos);
	EXPECT_NE(text(model, true).find("sem: " + line), std::string::npos);
}

TEST_F(BeliefTest, ResetForgetsTheCounts)
{
	log.count_semaphore(sem, 20, 17);
	TempDir dir;
	ASSERT_TRUE(record_image(log.image(), dir / "s.db").ok());
	{
		auto writer = StoreWriter::open(dir / "s.db");
		ASSERT_TRUE(writer.ok());
		auto run = writer->begin_run(log.info(), "kmod", "boot-1", "0123456789abcdef");
		ASSERT_TRUE(run.ok());
		ASSERT_TRUE(run->resumed);
		ASSERT_TRUE(writer->begin().ok());
		ASSERT_TRUE(writer->forget(*run).ok());
		ASSERT_TRUE(writer->commit(*run).ok());
	}
	auto model = load_stores({dir / "s.db"});
	ASSERT_TRUE(model.ok());
	EXPECT_TRUE(model->counts.empty());
}

/* ascending, descending, looked into, pointing back, pointing forth, annotated */
TEST(LockRules, OneRuleForEachClassThatKeepsOne)
{
	LogBuilder log;
	const struct {
		const char *name;
		std::vector<std::uint32_t> nested;
		const char *rule;
		std::uint64_t support, against;
	} cases[] = {
		{"up", {31, 0, 31, 0, 0, 0}, "ascending address", 31, 0},
		{"down", {1, 60, 61, 0, 0, 0}, "descending address", 60, 1},
		{"tree", {20, 20, 40, 40, 0, 0}, "parent before child", 40, 0},
		{"tree_up", {40, 0, 40, 38, 2, 0}, "parent before child", 38, 2},
		{"list", {20, 20, 40, 1, 39, 0}, "along a pointer", 39, 1},
		{"said", {20, 20, 40, 0, 0, 5}, "annotated", 5, 0},
		{"mixed", {20, 20, 40, 10, 10, 0}, nullptr, 0, 0},
		{"weak", {4, 8, 12, 0, 0, 0}, nullptr, 0, 0},
		{"few", {7, 0, 7, 0, 0, 0}, nullptr, 0, 0},
		{"none", {0, 0, 0, 0, 0, 0}, nullptr, 0, 0},
	};
	for (const auto &c : cases)
		log.count(nesting(log.add_class(c.name), c.nested));
	const Model model = model_of(log);
	auto rules = lock_rules(model);
	std::size_t expected = 0;
	for (const auto &c : cases) {
		auto rule = std::find_if(rules.begin(), rules.end(), [&](const LockRule &r) {
			return model[r.cls].name == c.name;
		});
		ASSERT_EQ(rule != rules.end(), c.rule != nullptr) << c.name;
		if (!c.rule)
			continue;
		expected++;
		EXPECT_STREQ(rule->rule, c.rule) << c.name;
		EXPECT_EQ(rule->support, c.support) << c.name;
		EXPECT_EQ(rule->against, c.against) << c.name;
	}
	EXPECT_EQ(rules.size(), expected);

	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	EXPECT_EQ(json["lock_rules"].size(), expected);
	EXPECT_EQ(json["lock_rules"][0], nlohmann::json({{"class", "up"},
							 {"rule", "ascending address"},
							 {"support", 31},
							 {"against", 0}}));
}

/* Types come from the recorder; here they are put in by hand. */
class RawTest : public testing::Test {
protected:
	Model model(const std::string &outer, const std::string &inner,
		    ls_kind kind = LS_KIND_SPINLOCK, bool try_lock = false)
	{
		LogBuilder log;
		const auto a = log.add_class("outer"), b = log.add_class("inner", kind);
		log.acquire({.stack = {"caller"}}, {{.cls = a}},
			    {.cls = b, .function = "take_it", .try_lock = try_lock});
		Model model = model_of(log);
		model.classes[0].type = outer;
		model.classes[1].type = inner;
		return model;
	}
	static Analysis look(const Model &model) { return analyse(model, {.raw_nesting = true}); }
};

TEST_F(RawTest, SleepingUnderRaw)
{
	const Model seen = model("raw_spinlock_t", "spinlock_t");
	EXPECT_TRUE(analyse(seen).findings.empty()) << "only when asked";
	const Analysis analysis = look(seen);
	ASSERT_EQ(analysis.findings.size(), 1u);
	const Finding &finding = analysis.findings[0];
	EXPECT_EQ(finding.kind, FindingKind::InvalidWaitContext);
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_EQ(finding.confidence, Confidence::Possible);
	EXPECT_EQ(finding.title, "invalid wait context on PREEMPT_RT: spinlock_t inner taken under "
				 "raw_spinlock_t outer (take_it)");
	EXPECT_TRUE(analysis.self_check.empty()) << "the module does not know of it";
	EXPECT_EQ(look(model("raw_spinlock_t", "", LS_KIND_RWLOCK)).findings.size(), 1u);
}

TEST_F(RawTest, AllElseIsSilent)
{
	for (auto [outer, inner] : {std::pair{"raw_spinlock_t", "raw_spinlock_t"},
				    {"spinlock_t", "spinlock_t"},
				    {"spinlock_t", "raw_spinlock_t"},
				    {"raw_spinlock_t", ""},
				    {"", "spinlock_t"}})
		EXPECT_TRUE(look(model(outer, inner)).findings.empty()) << outer << " " << inner;
	EXPECT_TRUE(look(model("raw_spinlock_t", "spinlock_t", LS_KIND_SPINLOCK, true))
			    .findings.empty())
		<< "only tried";
}

TEST_F(RawTest, CoverageIsTold)
{
	const Model seen = model("raw_spinlock_t", "");
	const Analysis analysis = look(seen);
	ASSERT_TRUE(analysis.raw);
	EXPECT_EQ(analysis.raw->known, 1u);
	EXPECT_EQ(analysis.raw->spinlocks, 2u);
	EXPECT_NE(text_report(seen, analysis, {}, {200, false})
			  .find("Raw nesting: types of 1 of 2 spinlock classes known"),
		  std::string::npos);
	const auto json = nlohmann::json::parse(json_report(seen, analysis, {}));
	EXPECT_EQ(json["raw_nesting"]["known"], 1);
	EXPECT_FALSE(nlohmann::json::parse(json_report(seen, analyse(seen), {}))
			     .contains("raw_nesting"));
}
