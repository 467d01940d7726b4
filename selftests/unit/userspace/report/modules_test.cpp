// SPDX-License-Identifier: GPL-2.0
// "Your module": what a report says of the modules that a recording was about.
#include "support.h"

#include "report/html/html.h"
#include "report/modules.h"
#include "report/report.h"
#include "store/writer.h"

#include <nlohmann/json.hpp>

using namespace lockscope;
using namespace lockscope::test;

namespace {

ClassId lock(Model &model, const std::string &name, const std::string &module, ls_kind kind)
{
	LockClass cls;
	cls.name = cls.stable = name;
	cls.kind = kind;
	cls.origin = LS_ORIGIN_STATIC;
	cls.module = module;
	return model.intern(cls);
}

CodeId place(Model &model, const std::string &function, const std::string &module)
{
	Code code;
	code.function = function;
	code.offset = 9;
	code.module = module;
	return model.intern(code);
}

OwnSite site(const std::string &function, std::optional<bool> reached)
{
	OwnSite out;
	out.place.function = function;
	out.place.offset = 9;
	out.place.module = "mod";
	out.place.lines = {{"spin_lock", "include/linux/spinlock.h", 350, true},
			   {function, "mod/mod.c", 12, false}};
	out.primitive = "_raw_spin_lock";
	out.reached = reached;
	return out;
}

/// A driver that takes one lock of its own under one of the kernel's.
Model usual_model()
{
	Model model;
	Run run;
	run.release = "6.1.0";
	const auto inner = lock(model, "mod:list_lock", "mod", LS_KIND_SPINLOCK);
	const auto outer = lock(model, "rtnl_mutex", "vmlinux", LS_KIND_MUTEX);
	run.chains = {Chain{},
		      {0, index(outer) + 1, outer, place(model, "rtnl_lock", "vmlinux"), 40},
		      {1, index(inner) + 1, inner, place(model, "mod_add", "mod"), 7}};
	OwnModule module;
	module.name = "mod";
	module.decoded = true;
	module.sites = {site("mod_add", true), site("mod_drop", false), site("mod_odd", {})};
	run.modules = {module};
	model.runs = {run};
	return model;
}

std::string text_of(const Model &model, const Selection &selection = {})
{
	Printer out({200, false});
	print_modules(model, module_reports(model, selection), false, out);
	return out.take();
}

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != text.npos;
}

} // namespace

TEST(YourModule, LocksOrdersAndWhatWasNotReached)
{
	const std::string text = text_of(usual_model());
	EXPECT_TRUE(has(text, "Your module:\n")) << text;
	EXPECT_TRUE(has(text, "mod: 1 lock of its own, about 7 acquisitions\n")) << text;
	EXPECT_TRUE(has(text,
			"mod:list_lock (spinlock): about 7 acquisitions in task; 1 held before it, "
			"0 taken under it\n"))
		<< text;
	EXPECT_TRUE(has(text, "code: 3, reached 1, not reached 1, not known 1\n")) << text;
	EXPECT_TRUE(has(text, "not reached: _raw_spin_lock() at mod/mod.c:12 mod_drop()\n"))
		<< text;
	EXPECT_FALSE(has(text, "mod_odd")) << text;
	EXPECT_TRUE(has(text, "lockscope instrument")) << text;
}

TEST(YourModule, OneThatTakesNoLock)
{
	Model model = usual_model();
	model.runs[0].modules[0].name = "idle";
	model.runs[0].modules[0].sites.clear();
	model.runs[0].modules[0].instrumented = true;
	const std::string text = text_of(model);
	EXPECT_TRUE(has(text, "idle took no lock at all\n")) << text;
	EXPECT_TRUE(has(text, "0 accesses of its code seen\n")) << text;
	model.runs[0].modules[0].decoded = false;
	EXPECT_TRUE(has(text_of(model), "its file was not found"));
}

TEST(YourModule, RecordingThatEndedBeforeItsLocksWereCounted)
{
	Model model = usual_model();
	model.runs[0].chains.resize(1);
	const std::string text = text_of(model);
	EXPECT_FALSE(has(text, "took no lock")) << text;
	EXPECT_TRUE(has(text, "mod: which locks it took was not recorded\n")) << text;
}

TEST(YourModule, OnlyThoseThatWereNamed)
{
	Model model = usual_model();
	EXPECT_EQ(text_of(model, {.modules = {"other*"}}), "");
	EXPECT_TRUE(has(text_of(model, {.modules = {"m*"}}), "mod: 1 lock"));
	model.runs[0].modules.clear();
	EXPECT_EQ(text_of(model), "");
	EXPECT_TRUE(has(text_of(model, {.modules = {"mod"}}), "mod: 1 lock"));
	EXPECT_EQ(text_of(model, {.modules = {"*"}}), "");
}

TEST(YourModule, RunsAreUnited)
{
	Model model = usual_model();
	model.runs.push_back(model.runs[0]);
	model.runs[1].modules[0].sites[1].reached = true;
	const auto reports = module_reports(model, {});
	ASSERT_EQ(reports.size(), 1u);
	EXPECT_EQ(reports[0].module.sites.size(), 3u);
	EXPECT_EQ(reports[0].reached, 2u);
	EXPECT_TRUE(reports[0].unreached.empty());
	const auto json = modules_json(model, reports);
	EXPECT_EQ(json[0]["locks"][0]["name"], "mod:list_lock");
	EXPECT_TRUE(json[0]["sites"][2]["reached"].is_null());
	EXPECT_EQ(json[0]["sites"][0]["lines"][1]["file"], "mod/mod.c");
}

TEST(YourModule, HasAViewInTheBrowser)
{
	Model model = usual_model();
	std::string html = html_report(model, {}, {}, {});
	EXPECT_TRUE(has(html, "<a href=\"#modules\">Your module</a>"));
	EXPECT_TRUE(has(html, "<section id=\"modules\" class=\"view\">"));
	EXPECT_TRUE(has(html, "<code>mod:list_lock</code> spinlock"));
	EXPECT_TRUE(has(html, "<li>_raw_spin_lock() at mod/mod.c:12 mod_drop()</li>"));
	EXPECT_FALSE(has(html, "mod_odd"));
	model.runs[0].modules.clear();
	html = html_report(model, {}, {}, {});
	EXPECT_FALSE(has(html, "#modules"));
}
