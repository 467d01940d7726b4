// SPDX-License-Identifier: GPL-2.0
#include "report/metrics.h"

#include "model/counters.h"
#include "report/report.h"
#include "util/utf8.h"

#include "lockclass/abi.h"

#include <tuple>

namespace lockscope {

namespace {

/// A value of a label: text of a kernel may be anything.
std::string label_value(const std::string &text)
{
	std::string out;
	for (const char c : plain_line(text)) {
		if (c == '\\' || c == '"')
			out += '\\';
		out += c;
	}
	return out;
}

using Labels = std::vector<std::pair<const char *, std::string>>;

/// The samples of one metric.
class Samples {
public:
	explicit Samples(const char *name) : name_(name) {}

	template <typename T> void add(T value, const Labels &labels = {})
	{
		text_ += name_;
		const char *separator = "{";
		for (const auto &[label, word] : labels) {
			text_ += separator;
			text_ += label;
			text_ += "=\"" + label_value(word) + "\"";
			separator = ",";
		}
		text_ += (labels.empty() ? " " : "} ") + std::to_string(value) + "\n";
	}
	template <typename T> void add_known(const std::optional<T> &value)
	{
		if (value)
			add(*value);
	}
	/// A counter of the run.
	void add_counter(const Metrics &from, const char *counter, const Labels &labels = {})
	{
		if (const auto at = from.counters.find(counter); at != from.counters.end())
			add(at->second, labels);
	}
	std::string take() { return std::move(text_); }

private:
	const char *name_;
	std::string text_;
};

void add_losses(const Metrics &from, Samples &out)
{
	for (const auto &loss : kLosses)
		out.add_counter(from, loss.stored, {{"kind", loss.name}});
	for (const auto &loss : kAccessLosses)
		out.add_counter(from, loss.name, {{"kind", loss.name}});
	out.add_counter(from, kMalformedCounter, {{"kind", kMalformedCounter}});
}

void add_findings(const Metrics &from, Samples &out)
{
	if (from.findings)
		for (const auto &count : from.findings->counts)
			out.add(count.n, {{"severity", name(count.severity)},
					  {"confidence", name(count.confidence)},
					  {"kind", name(count.kind)}});
}

void add_hidden(const Metrics &from, Samples &out)
{
	if (!from.findings)
		return;
	out.add(from.findings->hidden, {{"by", "filter"}});
	out.add(from.findings->suppressed, {{"by", "suppression"}});
}

/* All that hooks see: acquisitions, releases, accesses to memory. */
void add_events(const Metrics &from, Samples &out)
{
	out.add_counter(from, "acquisitions", {{"kind", "acquisition"}});
	out.add_counter(from, "releases", {{"kind", "release"}});
	out.add_counter(from, kAccessesCounter, {{"kind", "access"}});
}

void add_limits(const Metrics &from, Samples &out)
{
	out.add_counter(from, "max_classes", {{"table", "classes"}});
	out.add_counter(from, "max_edges", {{"table", "edges"}});
	out.add_counter(from, "max_chains", {{"table", "chains"}});
}

void add_build(const Metrics &, Samples &out)
{
	out.add(1, {{"version", LOCKSCOPE_VERSION},
		    {"abi", std::to_string(LS_ABI_MAJOR) + "." + std::to_string(LS_ABI_MINOR)}});
}

void add_run(const Metrics &from, Samples &out)
{
	if (!from.counters.empty())
		out.add(1, {{"kernel", from.kernel}, {"backend", from.backend}});
}

/// A metric. Units and _total are in the name, as Prometheus wants it; counters begin again
/// with each run.
struct Row {
	const char *name, *type, *help;
	void (*add)(const Metrics &, Samples &);
};

constexpr Row kRows[] = {
	{"lockscope_build_info", "gauge", "Version of the program and the module's ABI it reads.",
	 add_build},
	{"lockscope_run_info", "gauge", "Kernel and backend of the run.", add_run},
	{"lockscope_recording", "gauge", "1 while the module is loaded and read.",
	 [](const Metrics &from, Samples &out) {
		 if (from.recording)
			 out.add(*from.recording ? 1 : 0);
	 }},
	{"lockscope_runs", "gauge", "Runs in the store.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.runs); }},
	{"lockscope_run_start_timestamp_seconds", "gauge", "When the run began.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.run_started); }},
	{"lockscope_last_drain_timestamp_seconds", "gauge", "When the log was last stored.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.last_drain); }},
	{"lockscope_acquisitions_total", "counter", "Acquisitions of locks in the run.",
	 [](const Metrics &from, Samples &out) { out.add_counter(from, "acquisitions"); }},
	{"lockscope_events_total", "counter", "Events that hooks handled in the run.", add_events},
	{"lockscope_records_total", "counter", "Records of the log stored by this process.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.records); }},
	{"lockscope_losses_total", "counter",
	 "What found no room or was not followed in the run, by kind.", add_losses},
	{"lockscope_findings", "gauge", "Findings that a report of the store lists.", add_findings},
	{"lockscope_findings_hidden", "gauge", "Findings that a report does not list.", add_hidden},
	{"lockscope_findings_timestamp_seconds", "gauge", "When findings were last counted.",
	 [](const Metrics &from, Samples &out) {
		 if (from.findings)
			 out.add(from.findings->when);
	 }},
	{"lockscope_classes", "gauge", "Lock classes of the run.",
	 [](const Metrics &from, Samples &out) { out.add_counter(from, "classes"); }},
	{"lockscope_edges", "gauge", "Orders of lock classes in the run.",
	 [](const Metrics &from, Samples &out) { out.add_counter(from, "edges"); }},
	{"lockscope_chains", "gauge", "Chains of locks held together in the run.",
	 [](const Metrics &from, Samples &out) { out.add_counter(from, "chains"); }},
	{"lockscope_table_limit", "gauge", "Entries that a table of the module has room for.",
	 add_limits},
	{"lockscope_log_bytes", "gauge", "Length of the module's log.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.log_bytes); }},
	{"lockscope_lag_bytes", "gauge", "Part of the log that is not stored yet.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.lag_bytes); }},
	{"lockscope_store_bytes", "gauge", "Size of the store, with its write-ahead log.",
	 [](const Metrics &from, Samples &out) { out.add_known(from.store_bytes); }},
};

} // namespace

FindingCounts count_findings(const Analysis &analysis, std::int64_t now)
{
	std::map<std::tuple<Severity, Confidence, FindingKind>, std::uint64_t> counts;
	for (const Finding *finding : select_findings(analysis, {}))
		counts[{finding->severity, finding->confidence, finding->kind}]++;
	FindingCounts out;
	for (const auto &[sort, n] : counts)
		out.counts.push_back({std::get<Severity>(sort), std::get<Confidence>(sort),
				      std::get<2>(sort), n});
	const Tally all = tally(analysis, {});
	out.hidden = all.hidden;
	out.suppressed = all.suppressed;
	out.when = now;
	return out;
}

Metrics metrics_of(const Model &model, const Analysis &analysis, std::int64_t now)
{
	Metrics out;
	out.runs = model.runs.size();
	out.findings = count_findings(analysis, now);
	if (model.runs.empty())
		return out;
	const Run &run = model.runs.back();
	out.kernel = run.release;
	out.backend = run.backend;
	out.counters = run.counters;
	out.run_started = run.started;
	out.last_drain = run.updated;
	out.recording = run.writing && run.end == RunEnd::Open;
	return out;
}

std::string metrics_text(const Metrics &metrics)
{
	std::string out;
	for (const Row &row : kRows) {
		Samples samples(row.name);
		row.add(metrics, samples);
		const std::string lines = samples.take();
		if (!lines.empty())
			out += std::string("# HELP ") + row.name + " " + row.help + "\n# TYPE " +
			       row.name + " " + row.type + "\n" + lines;
	}
	return out;
}

std::vector<std::string> metric_names()
{
	std::vector<std::string> out;
	for (const Row &row : kRows)
		out.emplace_back(row.name);
	return out;
}

} // namespace lockscope
