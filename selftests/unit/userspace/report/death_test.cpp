// SPDX-License-Identifier: GPL-2.0
// How a machine died, from the store to the report.
#include "support.h"

#include "report/completeness.h"
#include "report/death.h"
#include "report/report.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lockscope {

namespace {

using test::LogBuilder;
using test::TempDir;

/// A store of @log whose machine died with lock @a held at a place that the log names.
Model died_with(const LogBuilder &log, const DeathRecord &death)
{
	TempDir dir;
	auto store = StoreWriter::open(dir / "a.db");
	EXPECT_TRUE(store);
	const auto source = image_source(log.image(), "kmod");
	NoSymbols symbols;
	Recorder recorder(*source, *store, symbols, {});
	EXPECT_TRUE(recorder.attach("kmod", "boot", ""));
	EXPECT_TRUE(recorder.drain());
	EXPECT_TRUE(recorder.snapshot());
	EXPECT_TRUE(recorder.put_death(death));
	EXPECT_TRUE(recorder.set_finish(RunEnd::Finished));
	/* Once more: it replaces the first one. */
	EXPECT_TRUE(recorder.put_death(death));
	auto model = load_stores({dir / "a.db"});
	EXPECT_TRUE(model);
	return model ? std::move(*model) : Model{};
}

DeathRecord death_of(std::uint32_t a, std::uint32_t b)
{
	DeathRecord out;
	out.cause = "list_del corruption. prev->next should be 1";
	out.messages = "[ 1.0] fine\n[ 2.0] list_del corruption. prev->next should be 1\n"
		       "[ 2.1] RIP: 0010:__list_del_entry_valid.cold+0x1d/0x47\n"
		       "[ 2.2] Call Trace:\n[ 2.3]  ? old+0x1/0x2 [other]\n"
		       "[ 2.4]  take_buffer+0x12/0x34 [loop_driver]\n";
	ContextAtDeath running;
	running.comm = "user";
	running.pid = 42;
	running.cpu = 1;
	running.held = {{a, 0x10, 0x1000, 0}};
	running.waits = HeldRecord{b | LS_SHARED << LS_VAL_READ_SHIFT, 0x20, 0x2000, 0};
	ContextAtDeath asleep;
	asleep.comm = "sleeper";
	asleep.pid = 43;
	asleep.held = {{b, 0x30, 0x2000, 0}};
	out.contexts = {running, asleep};
	out.missing = {"the log from byte 5 on"};
	return out;
}

std::string text_of(const Model &model)
{
	return text_report(model, analyse(model), {}, {100, false});
}

} // namespace

TEST(Death, TheReportBeginsWithIt)
{
	LogBuilder log;
	const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
	log.acquire({}, {{a}}, {b});
	const std::string text = text_of(died_with(log, death_of(a, b)));
	for (const char *line :
	     {"Incomplete: the machine died: list_del corruption.",
	      "The machine died: list_del corruption. prev->next should be 1",
	      "in __list_del_entry_valid.cold, called by module loop_driver",
	      "1 lock held by user/42, on CPU 1:", "#0: spinlock a_lock, taken at",
	      "waits for spinlock b_lock (shared), taken at", "1 lock held by sleeper/43, asleep:",
	      "not in the machine's memory: the log from byte 5 on", "lockscope instrument DIR"})
		EXPECT_NE(text.find(line), text.npos) << line << "\n" << text;
	EXPECT_LT(text.find("The machine died"),
		  text.find("Seen:") == text.npos ? text.size() : text.find("Seen:"));
}

TEST(Death, FindingsAboutLocksHeldThen)
{
	LogBuilder log;
	const auto a = log.add_class("a_lock"), b = log.add_class("b_lock"),
		   c = log.add_class("c_lock"), d = log.add_class("d_lock");
	log.acquire({}, {{a}}, {b});
	log.acquire({101, "other"}, {{b}}, {a});
	log.acquire({}, {{c}}, {d});
	log.acquire({101, "other"}, {{d}}, {c});
	const Model model = died_with(log, death_of(a, a));
	const Analysis analysis = analyse(model);
	std::vector<const Finding *> shown;
	for (const auto &finding : analysis.findings)
		shown.push_back(&finding);
	ASSERT_EQ(shown.size(), 2u);
	const auto stories = death_stories(model, shown);
	ASSERT_EQ(stories.size(), 1u);
	ASSERT_EQ(stories[0].findings.size(), 1u);
	EXPECT_NE(stories[0].findings[0]->title.find("a_lock"), std::string::npos);
	EXPECT_EQ(stories[0].module, "loop_driver");
}

TEST(Death, InJson)
{
	LogBuilder log;
	const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
	log.acquire({}, {{a}}, {b});
	const Model model = died_with(log, death_of(a, b));
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	const auto &death = json.at("deaths").at(0);
	EXPECT_EQ(death.at("module"), "loop_driver");
	const auto &contexts = death.at("contexts");
	ASSERT_EQ(contexts.size(), 2u);
	EXPECT_EQ(contexts[0].at("held").at(0).at("class"), "a_lock");
	EXPECT_EQ(contexts[0].at("waits_for").at("mode"), "shared");
	EXPECT_TRUE(contexts[1].at("cpu").is_null());
	EXPECT_TRUE(contexts[1].at("waits_for").is_null());
	EXPECT_EQ(json.at("incomplete").at(0).at("reason"), "died");
}

TEST(Death, ARunThatLivesHasNone)
{
	LogBuilder log;
	const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
	log.acquire({}, {{a}}, {b});
	const Model model = test::model_of(log);
	EXPECT_EQ(text_of(model).find("died"), std::string::npos);
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	EXPECT_FALSE(json.contains("deaths"));
}

TEST(Death, TextFromTheMemoryIsPrintable)
{
	LogBuilder log;
	const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
	log.acquire({}, {{a}}, {b});
	DeathRecord death = death_of(a, b);
	death.cause = "Oops: \x1b[31m\nsecond line";
	death.contexts[0].comm = "\x1b]0;x\x07";
	const std::string text = text_of(died_with(log, death));
	EXPECT_EQ(text.find('\x1b'), text.npos);
	EXPECT_EQ(text.find('\x07'), text.npos);
}

} // namespace lockscope
