// SPDX-License-Identifier: GPL-2.0
// lockscope graph: locks and their order as a picture.
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/suppressed.h"

#include "analysis/filters/annotations.h"
#include "report/graph.h"
#include "report/html/html.h"
#include "store/load.h"
#include "util/fd.h"
#include "util/file.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

namespace lockscope::cli {

namespace {

constexpr std::size_t kIdDigits = 16;

struct GraphArgs {
	std::vector<std::string> words; ///< [ID] [FILE...]
	std::string out, format;
	Neighbourhood wanted;
	SuppressionOptions suppressions;
};

/// Is the first of the words an id? A file of that name goes before.
bool begins_with_id(const std::vector<std::string> &words)
{
	return !words.empty() && !words.front().empty() && words.front().size() <= kIdDigits &&
	       words.front().find_first_not_of("0123456789abcdef") == std::string::npos &&
	       !exists(words.front());
}

/// A file with @text that goes with its owner.
class Scratch {
public:
	explicit Scratch(const std::string &text)
	{
		const Fd fd(::mkstemp(path_.data()));
		if (fd.get() < 0 || !write_file(path_, text))
			path_.clear();
	}
	~Scratch()
	{
		if (!path_.empty())
			::unlink(path_.c_str());
	}
	Scratch(const Scratch &) = delete;
	const std::string &path() const { return path_; } ///< empty: not written

private:
	std::string path_ =
		(std::filesystem::temp_directory_path() / "lockscope-graph-XXXXXX").string();
};

/// graphviz lays it out and writes it to @out, or to stdout.
int draw(const std::string &text, const std::string &format, const std::string &out)
{
	const Scratch scratch(text);
	if (scratch.path().empty())
		return fail({0, "cannot write a temporary file", "is there room in /tmp?",
			     Exit::Environment});
	std::vector<std::string> command = {"dot", "-T" + format};
	if (!out.empty())
		command.push_back("-o" + out);
	command.push_back(scratch.path());
	auto child = Child::start(command);
	if (!child)
		return fail({0, "graphviz is not installed, which lays out pictures",
			     "apt-get install graphviz, or write the text of it: -o graph.dot",
			     Exit::Environment});
	while (!child->poll())
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	if (child->status() == 0)
		return 0;
	return fail({0, "dot failed with status " + std::to_string(child->status()),
		     "can " + (out.empty() ? "standard output" : out) + " be written?",
		     Exit::Environment});
}

std::string format_of(const GraphArgs &options)
{
	if (!options.format.empty())
		return options.format;
	for (const char *format : {"svg", "png", "pdf", "html"})
		if (options.out.ends_with(std::string(".") + format))
			return format;
	return "dot";
}

/// The report in a browser, opened at the locks of @picture, with the findings about them.
std::string html_around(const Model &model, Analysis &analysis, const Picture &picture)
{
	GraphPart part;
	part.title = picture.title;
	part.locks.insert(picture.locks.begin(), picture.locks.end());
	for (auto &finding : analysis.findings)
		if (std::none_of(finding.classes.begin(), finding.classes.end(),
				 [&](ClassId cls) { return part.locks.contains(cls); }))
			finding.left_out = true;
	return html_of(model, analysis, {}, &part);
}

int run(const GraphArgs &options)
{
	auto words = options.words;
	std::string id;
	if (begins_with_id(words)) {
		id = words.front();
		words.erase(words.begin());
	}
	const bool part = !options.wanted.classes.empty() || !options.wanted.module.empty();
	if (id.empty() == !part)
		return fail(usage_error("what is to be shown is not clear",
					"give the id of a finding, or --class PATTERN, or --module "
					"NAME"));
	const auto files = stores_or_default(words);
	auto model = load_stores(files, Damage::Salvage);
	if (!model)
		return fail(model.error());
	if (auto status = annotations::load(*model); !status)
		return fail(status.error());
	auto analysis = analyse_with(*model, options.suppressions);
	if (!analysis)
		return fail(analysis.error());
	Picture picture;
	if (id.empty()) {
		picture = picture_of(*model, *analysis, options.wanted);
	} else {
		const auto chosen = find_finding(*analysis, id, files.front());
		if (!chosen)
			return fail(chosen.error());
		picture = picture_of(*model, analysis->findings[*chosen]);
	}
	if (picture.nodes.empty())
		return fail(usage_error("no lock class in " + files.front() + " is meant by this",
					"names of classes are in lockscope stat " + files.front() +
						"; * stands for any text in a pattern"));
	if (picture.left_out)
		std::fprintf(stderr, "lockscope: %zu lock classes around these are left out\n",
			     picture.left_out);
	const std::string format = format_of(options);
	if (format == "html" && picture.locks.empty())
		return fail(usage_error("no lock is part of finding " + id,
					"lockscope report --format html has it"));
	if (format == "html")
		return deliver(html_around(*model, *analysis, picture), options.out);
	const std::string text = dot_text(picture);
	return format == "dot" ? deliver(text, options.out) : draw(text, format, options.out);
}

} // namespace

void add_graph_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "graph", "draw a finding, or the order of locks",
				    "lockscope graph cc7a763f -o finding.svg\n"
				    "  lockscope graph --class 'ext4:*' --depth 2 -o ext4.dot");
	auto options = std::make_shared<GraphArgs>();
	command->add_option("ID|FILE", options->words,
			    "id of a finding, or the first digits of it; then stores to read "
			    "(default lockscope.db)");
	command->add_option("--class", options->wanted.classes,
			    "the locks whose name matches, where * is any text, and those around");
	command->add_option(
		"--module", options->wanted.module,
		"the locks of modules that match, vmlinux for the kernel, where * is any "
		"text, and those around");
	command->add_option("--depth", options->wanted.depth,
			    "how many dependencies away those may be")
		->check(CLI::Range(0, 16))
		->capture_default_str();
	command->add_option(
		       "--format", options->format,
		       "dot, html for a browser, or svg, png, pdf by graphviz (default: as FILE "
		       "of -o ends)")
		->check(CLI::IsMember({"dot", "html", "svg", "png", "pdf"}));
	command->add_option("-o,--output", options->out, "write here instead of standard output");
	add_suppression_options(command, options->suppressions);
	set_action(command, globals, [options] { return run(*options); });
}

} // namespace lockscope::cli
