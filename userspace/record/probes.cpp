// SPDX-License-Identifier: GPL-2.0
#include "record/probes.h"

#include "decode/sites.h"
#include "util/file.h"
#include "util/text.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace lockscope {

namespace {

using namespace std::chrono_literals;

/* A trap takes up to 640 instructions, judging an access up to 1000 more. */
constexpr double kHitInstructions = 1640;
/* CPUs are faster than that, but not in code full of traps. */
constexpr double kInstructionsPerSecond = 1e9;

constexpr auto kTurn = 5s;
/* Patching code stops all CPUs repeatedly: few sites at a time, and a limited share of the time. */
constexpr std::size_t kStep = 16;
constexpr int kArmingShare = 10;
constexpr auto kMeasure = 1000ms, kFirstMeasure = 200ms;

Error environment(Error error)
{
	error.exit = Exit::Environment;
	return error;
}

/// The patterns in a file, without comments and empty lines.
Result<std::vector<std::string>> read_patterns(const std::string &path)
{
	auto text = read_file(path);
	if (!text)
		return text.error();
	std::vector<std::string> out;
	for (const auto &line : split(*text, '\n'))
		if (!line.empty() && line[0] != '#')
			out.push_back(line);
	if (out.empty())
		return Error{0, path + " names no functions",
			     "write one pattern a line, such as ext4:ext4_mb_*", Exit::Environment};
	return out;
}

void take(SiteList list, ProbeSites &out, std::set<std::uint64_t> &known)
{
	for (auto &function : list.functions) {
		if (!known.insert(function.code.address).second)
			continue;
		out.functions++;
		SiteList one;
		one.functions.push_back(std::move(function));
		const auto sites = lockscope::probe_sites(one);
		out.sites.insert(out.sites.end(), sites.begin(), sites.end());
	}
	out.unread += list.unread.size();
}

} // namespace

double hits_within(double budget, unsigned int processors)
{
	return budget / 100 * processors * kInstructionsPerSecond / kHitInstructions;
}

Result<ProbeSites> probe_sites(const CodeSource &code, const std::vector<std::string> &patterns,
			       const std::vector<AddressRange> &refused)
{
	ProbeSites out;
	std::set<std::uint64_t> known;
	SiteOptions options;
	options.refused = refused;
	for (const auto &pattern : patterns) {
		if (pattern.empty() || pattern[0] != '@') {
			auto list = list_sites(code, pattern, options);
			if (!list)
				return environment(list.error());
			take(std::move(*list), out, known);
			continue;
		}
		auto listed = read_patterns(pattern.substr(1));
		if (!listed)
			return environment(listed.error());
		std::size_t absent = 0;
		for (const auto &each : *listed) {
			auto list = list_sites(code, each, options);
			if (list)
				take(std::move(*list), out, known);
			else
				absent++;
		}
		if (absent == listed->size())
			return Error{0, "no function is there of those in " + pattern.substr(1),
				     "load the modules they are in first", Exit::Environment};
		out.absent += absent;
	}
	if (out.sites.empty())
		return Error{0,
			     "nothing to watch: no access was found in " +
				     counted(out.functions, "function"),
			     out.unread ? "their code cannot be read: is the kernel locked down?"
					: "choose functions that touch more than their stack",
			     Exit::Environment};
	return out;
}

Probes::Probes(Source &source, Rotation rotation, ProbeSites found)
	: source_(source), rotation_(std::move(rotation)), found_(std::move(found))
{
}

Probes::~Probes()
{
	(void)end().ok();
}

Result<std::unique_ptr<Probes>> Probes::begin(Source &source, const ProbeOptions &options)
{
	if (!source.live())
		return Error{0, "an image has no code to watch", "leave --watch out",
			     Exit::Environment};
	/* Probes in place would be decoded as code. */
	std::vector<ls_site> none;
	LS_TRY_STATUS(source.probe(none));
	auto code = open_kernel_code();
	if (!code)
		return environment(code.error());
	return begin(source, options, **code, probe_blacklist());
}

Result<std::unique_ptr<Probes>> Probes::begin(Source &source, const ProbeOptions &options,
					      const CodeSource &code,
					      const std::vector<AddressRange> &refused)
{
	auto info = source.access_info();
	if (!info)
		return info.error();
	/* A module that cannot count hits cannot keep to a budget. */
	auto counted_hits = source.probe_hits(0);
	if (!counted_hits)
		return counted_hits.error();
	auto found = probe_sites(code, options.patterns, refused);
	if (!found)
		return found.error();
	const std::size_t most = *info ? (*info)->max_probes : 0;
	const auto processors =
		static_cast<unsigned int>(std::max(1l, ::sysconf(_SC_NPROCESSORS_ONLN)));
	Rotation rotation(std::move(found->sites),
			  {std::min(options.live, most), hits_within(options.budget, processors)});
	found->sites.clear();
	std::unique_ptr<Probes> probes(new Probes(source, std::move(rotation), std::move(*found)));
	if (*info)
		probes->before_ = probes->after_ = **info;
	probes->rotation_.begin_turn();
	LS_TRY_STATUS(probes->arm());
	if (probes->rotation_.most_live() == 0)
		return Error{0, "the kernel refused every probe: " + probes->summary(),
			     "is CONFIG_KPROBES there, and /sys/kernel/debug/kprobes/enabled 1?",
			     Exit::Environment};
	return probes;
}

std::size_t Probes::step() const
{
	return std::clamp<std::size_t>(armed_ / 8, 1, kStep);
}

Status Probes::arm()
{
	const auto start = Clock::now();
	auto sites = rotation_.live();
	LS_TRY_STATUS(source_.probe(sites));
	rotation_.armed(sites);
	armed_ = sites.size();
	measured_ = Clock::now();
	turn_measured_ = false;
	if (armed_ == 0)
		return success();
	/* The first ones have a full turn; then some are replaced at each step. The duration
	 * of the next step matters: in the first one all were new. */
	const std::size_t leaving = stepping_ ? step() : armed_;
	const std::size_t part = stepping_ ? armed_ : step();
	const Clock::duration took = (measured_ - start) * part / armed_;
	next_step_ =
		measured_ + std::max<Clock::duration>(Clock::duration(kTurn) * leaving / armed_,
						      took * kArmingShare);
	stepping_ = true;
	return success();
}

Status Probes::measure(Clock::time_point now)
{
	auto hits = source_.probe_hits(armed_);
	if (!hits)
		return hits.error();
	const std::chrono::duration<double> passed = now - measured_;
	measured_ = now;
	turn_measured_ = true;
	return rotation_.measure(*hits, passed.count()) ? arm() : success();
}

Status Probes::tick(Clock::time_point now)
{
	if (now - measured_ >= (turn_measured_ ? kMeasure : kFirstMeasure))
		LS_TRY_STATUS(measure(now));
	if (now < next_step_ || rotation_.is_complete())
		return success();
	LS_TRY_STATUS(measure(now));
	rotation_.begin_turn(step());
	return arm();
}

Status Probes::end()
{
	if (armed_ == 0)
		return success();
	/* Only for statistics: the probes are removed in any case. */
	if (auto hits = source_.probe_hits(armed_))
		(void)rotation_.measure(*hits, 0);
	armed_ = 0;
	ended_ = Clock::now();
	std::vector<ls_site> none;
	auto removed = source_.probe(none);
	if (auto info = source_.access_info(); info && *info)
		after_ = **info;
	return removed;
}

std::string Probes::summary() const
{
	std::uint64_t lost = 0, judged = after_.seen - before_.seen;
	for (int i = 0; i < LS_NR_ALOSSES; i++) {
		const std::uint64_t n = after_.losses[i] - before_.losses[i];
		lost += n;
		/* The others were missed, or checked in part. */
		if (i == LS_ALOSS_PAGES || i == LS_ALOSS_LOCKSETS || i == LS_ALOSS_SITES ||
		    i == LS_ALOSS_BUSY)
			judged -= std::min(judged, n);
	}
	std::string out = "probes on " + with_commas(rotation_.most_live()) + " of " +
			  counted(rotation_.sites(), "site") + " at a time in " +
			  counted(found_.functions, "function") + ", " +
			  with_commas(rotation_.turned()) + " had their turn; " +
			  with_commas(after_.probe_hits - before_.probe_hits) + " hits, " +
			  with_commas(judged) + " accesses judged, " + with_commas(lost) + " lost";
	if (rotation_.held_back())
		out += "; " + with_commas(rotation_.held_back()) + " were too hot for the budget";
	for (const auto &[error, n] : rotation_.refused()) {
		const char *name = ::strerrorname_np(error);
		out += "; the kernel refused " + with_commas(n) + ": " +
		       (name ? name : std::to_string(error));
	}
	if (found_.absent)
		out += "; " + counted(found_.absent, "pattern") + " fit nothing";
	if (found_.unread)
		out += "; " + counted(found_.unread, "function") + " could not be read";
	return out;
}

std::string Probes::hint() const
{
	std::size_t sites = rotation_.sites();
	for (const auto &[error, n] : rotation_.refused())
		sites -= std::min(sites, n);
	const std::size_t turned = rotation_.turned();
	if (turned == 0 || turned * 2 >= sites)
		return {};
	/* All at the pace so far; of a recording that was over within the first turn, at that
	 * of the turns. */
	const double all = static_cast<double>(sites);
	const std::chrono::duration<double> passed = ended_ - began_;
	const double seconds = std::max(
		passed.count() * all / static_cast<double>(turned),
		std::chrono::duration<double>(kTurn).count() * all /
			static_cast<double>(std::max<std::size_t>(rotation_.most_live(), 1)));
	return "for all " + with_commas(sites) + " sites to have a turn, record for about " +
	       counted(static_cast<std::uint64_t>(seconds / 60) + 1, "minute") +
	       ", watch fewer functions, or raise --probes";
}

} // namespace lockscope
