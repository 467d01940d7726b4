// SPDX-License-Identifier: GPL-2.0
// The report as SARIF, for code scanning and for editors that show its flows.
#include "report/completeness.h"
#include "report/formats.h"
#include "report/json_parts.h"
#include "report/sides.h"

#include "analysis/owner.h"
#include "model/counters.h"
#include "util/text.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace lockscope {

namespace sarif {

namespace {

/// Of more locations in the flows of one result, GitHub shows a selection of its own.
constexpr std::size_t kMostFlowLocations = 1000;

constexpr const char *kSourceRoot = "SRCROOT";

/// A message. "[text](1)" would be a link in it.
Json message(std::string text)
{
	for (auto at = text.find("]("); at != text.npos; at = text.find("](", at))
		text.insert(at + 1, " ");
	return {{"text", text.empty() ? "?" : text}};
}

/// A sentence as a message.
Json sentence(std::string text)
{
	if (!text.empty())
		text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
	return message(text + ".");
}

/// The path of a URI, everything but unreserved characters escaped [RFC 3986, 2.3].
std::string uri_path(const std::string &path)
{
	std::string out;
	for (const char c : path) {
		const auto byte = static_cast<unsigned char>(c);
		if ((byte < 0x80 && std::isalnum(byte)) ||
		    std::string_view("-._~/").find(c) != std::string_view::npos)
			out += c;
		else
			out += "%" + to_hex(std::string_view(&c, 1));
	}
	return out;
}

Json artifact(const std::string &file)
{
	if (file.starts_with('/'))
		return {{"uri", "file://" + uri_path(file)}};
	return {{"uri", uri_path(file)}, {"uriBaseId", kSourceRoot}};
}

/// A frame, with its source line if that is known.
Json location(const Code &code, const Frame &frame)
{
	Json out = Json::object();
	if (frame.line) {
		out["physicalLocation"] = {{"artifactLocation", artifact(frame.line->file)}};
		if (frame.line->line)
			out["physicalLocation"]["region"] = {{"startLine", frame.line->line}};
	}
	const std::string function = plain_function(frame.function);
	const bool module = !code.module.empty() && code.module != "vmlinux";
	out["logicalLocations"] = {
		{{"name", function},
		 {"fullyQualifiedName", module ? code.module + ":" + function : function},
		 {"kind", "function"}}};
	return out;
}

/// One frame of a flow.
struct FlowLocation {
	Json json;
	bool calls = true; ///< only calls the next one
};

void add_step(const Model &model, const Step &step, std::vector<FlowLocation> &out)
{
	const auto &code = model[step.at];
	const auto frames = frames_of(code);
	for (std::size_t i = frames.size(); i-- > 0;) {
		const bool acts = i == 0 && !step.does.empty();
		const std::string place =
			frames[i].inlined ? frames[i].function + " (inlined)" : place_name(code);
		Json at = {{"location", location(code, frames[i])}};
		at["location"]["message"] =
			message(acts ? step.does + " at " + place : "calls on from " + place);
		at["module"] = code.module.empty() ? "vmlinux" : code.module;
		at["nestingLevel"] = step.depth;
		at["importance"] = acts ? "essential" : "unimportant";
		out.push_back({std::move(at), !acts});
	}
}

/// At most @most locations; of callers the innermost are kept.
Json thread_flow(const Model &model, const Side &side, std::size_t number, std::size_t most)
{
	std::vector<FlowLocation> locations;
	for (const auto &step : side.steps)
		add_step(model, step, locations);
	std::size_t excess = locations.size() > most ? locations.size() - most : 0;
	Json list = Json::array();
	for (auto &at : locations) {
		if (excess && at.calls)
			excess--;
		else
			list.push_back(std::move(at.json));
	}
	return {{"id", "side " + std::to_string(number)},
		{"message", message(side.does + (side.by.empty() ? "" : " (" + side.by + ")"))},
		{"locations", std::move(list)}};
}

/// Where the sides do the last thing of which a line is known: code scanning shows nothing
/// else, and a driver's finding may end in a kernel without lines. Else where the first one does
/// its last thing.
Json last_place(const Model &model, const std::vector<Side> &sides)
{
	for (const auto &side : sides)
		for (auto step = side.steps.rbegin(); step != side.steps.rend(); ++step)
			for (const auto &frame : frames_of(model[step->at]))
				if (frame.line)
					return location(model[step->at], frame);
	const auto &code = model[sides.front().steps.back().at];
	return location(code, frames_of(code).front());
}

/// The frame of the code that a maintainer owns, in the first side as it is shown, if its line is
/// known; else where that side does the last thing of it.
Json main_place(const Model &model, const Finding &finding, const std::vector<Side> &sides)
{
	if (finding.edges.empty())
		return last_place(model, sides);
	const auto &edge = finding.about_interrupt() ? finding.edges.back() : finding.edges.front();
	const auto &code = model[owner_of(model, finding, edge)];
	const auto frames = frames_of(code);
	const auto at = std::find_if(frames.begin(), frames.end(),
				     [](const Frame &frame) { return frame.line; });
	return at == frames.end() ? last_place(model, sides) : location(code, *at);
}

std::string describe(const Finding &finding, const std::vector<Side> &sides)
{
	std::string out = finding.title + ".";
	for (std::size_t i = 0; i < sides.size(); i++)
		out += "\nSide " + std::to_string(i + 1) + " " + sides[i].does +
		       (sides[i].by.empty() ? "" : " (" + sides[i].by + ")") + ".";
	for (const auto &filter : finding.filters)
		out += std::string("\n") + (filter.hidden ? "Hidden: " : "Doubt: ") + filter.why +
		       " (" + filter.name + ").";
	return out;
}

Json suppressions(const Finding &finding)
{
	Json out = Json::array();
	for (const auto &filter : finding.filters)
		if (filter.hidden)
			out.push_back({{"kind", "external"},
				       {"status", "accepted"},
				       {"justification", filter.why + " (" + filter.name + ")"}});
	return out;
}

std::size_t rule_index(FindingKind kind)
{
	const auto kinds = finding_kinds();
	return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) -
					kinds.begin());
}

Json properties(const Model &model, const Finding &finding, std::size_t rank)
{
	Json locks = Json::array();
	for (ClassId cls : finding.locks())
		locks.push_back(model[cls].name);
	Json out = {{"id", finding.id},
		    {"rank", rank},
		    {"confidence", name(finding.confidence)},
		    {"score", finding.score},
		    {"locks", std::move(locks)}};
	if (!finding.cause.empty())
		out["cause"] = finding.cause;
	if (finding.verdict)
		out["verdict"] = name(finding.verdict->result);
	return out;
}

Json result_of(const Model &model, const Finding &finding, std::size_t rank, bool all)
{
	auto sides = sides_of(model, finding);
	std::erase_if(sides, [](const Side &side) { return side.steps.empty(); });
	sides.resize(std::min(sides.size(), kMostFlowLocations / 2));
	Json out = {{"ruleId", name(finding.kind)},
		    {"ruleIndex", rule_index(finding.kind)},
		    {"level", name(finding.severity)},
		    {"message", message(describe(finding, sides))},
		    {"locations", Json::array()},
		    /* The first is the only one that code scanning looks at. */
		    {"partialFingerprints",
		     {{"primaryLocationLineHash", finding.id}, {"lockscopeId/v1", finding.id}}}};
	if (!sides.empty()) {
		out["locations"].push_back(main_place(model, finding, sides));
		Json flows = Json::array();
		for (std::size_t i = 0; i < sides.size(); i++)
			flows.push_back(thread_flow(model, sides[i], i + 1,
						    kMostFlowLocations / sides.size()));
		out["codeFlows"] = {{{"threadFlows", std::move(flows)}}};
	}
	/* With some suppressed, an empty list says that the others are not. */
	if (all)
		out["suppressions"] = suppressions(finding);
	out["properties"] = properties(model, finding, rank);
	return out;
}

/// "lock-order-cycle" -> "LockOrderCycle"
std::string pascal_case(const std::string &name)
{
	std::string out;
	for (auto word : split(name, '-')) {
		word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
		out += word;
	}
	return out;
}

Json rules()
{
	Json out = Json::array();
	for (const auto kind : finding_kinds())
		out.push_back(
			{{"id", name(kind)},
			 {"name", pascal_case(name(kind))},
			 {"shortDescription", sentence(about(kind))},
			 {"fullDescription", sentence(about(kind))},
			 {"help",
			  message("lockscope show ID says all that is known about one finding; "
				  "docs/findings.md describes the kinds, docs/severity.md their "
				  "severity.")},
			 {"defaultConfiguration", {{"level", name(usual_severity(kind))}}},
			 {"properties", {{"tags", {"kernel", "locking", "concurrency"}}}}});
	return out;
}

/// What may be said about the run itself.
struct Notice {
	const char *id, *about;
};
constexpr Notice kIncomplete{"incomplete", "the run is too incomplete to be called clean"};
constexpr Notice kLost{"lost", "observations were lost, so findings may be missing"};
constexpr Notice kNotSeen{"not-seen", "what cannot be seen of a kernel"};
constexpr Notice kLeftOut{"left-out", "findings of the report are not in this file"};
constexpr Notice kNoLines{"no-lines", "findings have no source lines"};
constexpr Notice kSelfCheck{"self-check", "the module and the report disagree"};

class Notifications {
public:
	void add(const Notice &notice, const char *level, const std::string &text)
	{
		list_.push_back({{"descriptor", {{"id", notice.id}}},
				 {"level", level},
				 {"message", sentence(text)}});
	}
	Json take() { return std::move(list_); }

	static Json descriptors()
	{
		Json out = Json::array();
		for (const auto &notice :
		     {kIncomplete, kLost, kNotSeen, kLeftOut, kNoLines, kSelfCheck})
			out.push_back(
				{{"id", notice.id}, {"shortDescription", sentence(notice.about)}});
		return out;
	}

private:
	Json list_ = Json::array();
};

/// Results as text, one a line: as one document, 25,000 of them would take gigabytes.
struct Results {
	std::string text;
	std::size_t left_out = 0, without_lines = 0;
};

Results results_of(const Model &model, const Analysis &analysis, const ReportOptions &options,
		   std::size_t most)
{
	Results out;
	auto shown = select_findings(analysis, options);
	if (shown.size() > most) {
		out.left_out = shown.size() - most;
		shown.resize(most);
	}
	std::size_t rank = 0;
	for (const auto *finding : shown) {
		const Json result = result_of(model, *finding, ++rank, options.all);
		const auto &locations = result["locations"];
		if (locations.empty() || !locations[0].contains("physicalLocation"))
			out.without_lines++;
		out.text += (rank > 1 ? ",\n" : "\n") +
			    result.dump(-1, ' ', false, Json::error_handler_t::replace);
	}
	return out;
}

Json invocation(const Model &model, const Analysis &analysis, const Results &results)
{
	Notifications out;
	const auto incomplete = incompleteness(model);
	for (const auto &why : incomplete)
		out.add(kIncomplete, "error", why.text);
	for (const auto &loss : losses_of(model))
		out.add(kLost, "warning", loss + ": findings may be missing");
	for (const auto &note : analysis.self_check.missing)
		out.add(kSelfCheck, "warning", note);
	if (results.left_out)
		out.add(kLeftOut, "warning",
			counted(results.left_out, "finding") +
				" beyond the limit of code scanning, the last in rank");
	if (results.without_lines)
		out.add(kNoLines, "note",
			counted(results.without_lines, "finding") +
				" without a source line, which code scanning does not show: "
				"lockscope symbols fetch adds those of a kernel, those of a module "
				"are in one built with debug information");
	auto spots = blind_spots(model);
	if (has_bpf_run(model))
		spots.insert(spots.end(), bpf_blind_spots().begin(), bpf_blind_spots().end());
	for (const auto &spot : spots)
		out.add(kNotSeen, "note", "not seen: " + spot);
	return {{"executionSuccessful", incomplete.empty()},
		{"toolExecutionNotifications", out.take()}};
}

Json driver()
{
	return {{"name", "LockScope"},
		{"version", LOCKSCOPE_VERSION},
		{"semanticVersion", LOCKSCOPE_VERSION},
		{"shortDescription",
		 message("Lock validation for unmodified Linux kernels, at run time.")},
		{"rules", rules()},
		{"notifications", Notifications::descriptors()}};
}

/// The kernels and backends of the runs.
Json run_properties(const Model &model)
{
	std::set<std::string> kernels, backends;
	for (const auto &run : model.runs) {
		kernels.insert(run.release);
		backends.insert(run.backend);
	}
	return {{"kernels", kernels}, {"backends", backends}, {"runs", model.runs.size()}};
}

} // namespace

} // namespace sarif

std::string sarif_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			 std::size_t most)
{
	const auto results = sarif::results_of(model, analysis, options, most);
	const Json base =
		sarif::message("The source tree that the kernel, or the module, was built from.");
	const Json run = {{"tool", {{"driver", sarif::driver()}}},
			  {"invocations", {sarif::invocation(model, analysis, results)}},
			  {"originalUriBaseIds", {{sarif::kSourceRoot, {{"description", base}}}}},
			  {"columnKind", "utf16CodeUnits"},
			  {"properties", sarif::run_properties(model)},
			  {"results", Json::array()}};
	std::string out = dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
				{"version", "2.1.0"},
				{"runs", {run}}});
	/* Nothing behind the empty list has one. */
	out.insert(out.rfind("[]") + 1, results.text);
	return out;
}

} // namespace lockscope
