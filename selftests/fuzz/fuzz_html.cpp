// SPDX-License-Identifier: GPL-2.0
// Any text as each name of a model: none of it is markup, script or a control character in the
// HTML report, and the report keeps its size.
#include "scratch.h"

#include "record/recorder.h"
#include "report/html/html.h"
#include "report/logs.h"
#include "report/markup.h"
#include "stat/stat.h"
#include "store/load.h"

#include <fuzzer/FuzzedDataProvider.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>

using namespace lockscope;

namespace {

const fuzz::Scratch g_scratch("html");

Model sound_model()
{
	Model model;
	const test::LogBuilder logs[] = {test::other_kinds(), test::race_log(), test::small_log()};
	for (const auto &log : logs) {
		g_scratch.clear();
		auto source = image_source(log.image());
		{
			auto store = StoreWriter::open(g_scratch.path());
			NoSymbols symbols;
			Recorder recorder(*source, *store, symbols, {});
			if (!recorder.attach("image", "boot" + std::to_string(model.runs.size()),
					     "") ||
			    !recorder.drain() || !recorder.snapshot())
				std::abort();
		}
		if (!load_store(g_scratch.path(), model))
			std::abort();
	}
	return model;
}

/// What the names become: any string for some of them.
class Spoiler {
public:
	Spoiler(const std::uint8_t *data, std::size_t size) : bytes_(data, size) {}

	void operator()(std::string &text)
	{
		if (bytes_.remaining_bytes() && bytes_.ConsumeBool())
			text = bytes_.ConsumeRandomLengthString(kLongest);
	}

private:
	static constexpr std::size_t kLongest = 300;
	FuzzedDataProvider bytes_;
};

void spoil_model(Model &model, Spoiler &spoil)
{
	for (auto &cls : model.classes)
		for (auto *text : {&cls.name, &cls.stable, &cls.module, &cls.type, &cls.within})
			spoil(*text);
	for (std::size_t i = 1; i < model.code.size(); i++) {
		auto &code = model.code[i];
		for (auto *text : {&code.function, &code.module, &code.build_id})
			spoil(*text);
		code.lines = {{"inner", "file.h", 3, true}, {"outer", "file.c", 4, false}};
		for (auto &line : code.lines) {
			spoil(line.function);
			spoil(line.file);
		}
	}
	for (auto &observation : model.observations)
		spoil(observation.comm);
	for (auto &data : model.data)
		for (auto *text : {&data.name, &data.type, &data.module, &data.within})
			spoil(*text);
	for (auto &access : model.accesses) {
		spoil(access.comm);
		spoil(access.member);
		for (auto &guard : access.guards) {
			spoil(guard.name);
			spoil(guard.place);
		}
	}
	for (auto &race : model.races)
		for (auto &side : race.sides)
			spoil(side.comm);
	for (auto &run : model.runs) {
		for (auto *text : {&run.release, &run.build_id, &run.backend, &run.problem,
				   &run.file, &run.boot})
			spoil(*text);
		for (auto &primitive : run.primitives)
			spoil(primitive.function);
	}
	model.runs.back().end = RunEnd::Failed;
}

void spoil_findings(Analysis &analysis, Spoiler &spoil)
{
	for (auto &finding : analysis.findings) {
		Verdict verdict;
		verdict.finding = finding.id;
		for (auto *text : {&verdict.reason, &verdict.why, &verdict.evidence})
			spoil(*text);
		finding.verdict = verdict;
		spoil(finding.title);
		for (auto &filter : finding.filters)
			spoil(filter.why);
	}
	std::string check = "check";
	spoil(check);
	analysis.self_check.missing = {check};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	static const Model sound = sound_model();
	Model model = sound;
	Spoiler spoil(data, size);
	spoil_model(model, spoil);
	Analysis analysis = analyse(model);
	spoil_findings(analysis, spoil);
	ReportOptions options;
	options.all = true;
	const std::string html = html_report(model, analysis, options, stat_of(model));
	const std::string graph = test::between(html, "id=\"graph-data\">", "</script>");
	const std::string foreign = test::foreign_markup(html);
	if (!foreign.empty())
		std::fprintf(stderr, "foreign: %s\n", foreign.c_str());
	/* The parser refuses what is no UTF-8. */
	if (!foreign.empty() || html.size() > kMostHtmlBytes ||
	    !nlohmann::json::parse(graph, nullptr, false).is_object())
		std::abort();
	return 0;
}
