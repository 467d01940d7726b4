// SPDX-License-Identifier: GPL-2.0
// oracle [--seed N] [--programs N] [--seconds N] [--batch N] [--examples N]
// [--show] [--list] [--explain CAUSE]: random programs of
// locks through the module's core, its judge and the report, against trying all
// interleavings. Programs N .. are those numbers from the seed on; without a seed it is
// a new one, which is printed. A disagreement prints the smallest program that shows it,
// and makes this exit 1. --explain: so do those that docs/oracle.md lists as CAUSE. --list
// prints the numbers of programs with those that it lists.
#include "run.h"
#include "verdict.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

namespace {

using namespace lockscope;
using namespace lockscope::oracle;

class Oracle {
public:
	explicit Oracle(const Options &options) : options_(options) {}

	int run()
	{
		const auto start = std::chrono::steady_clock::now();
		auto elapsed = [&] {
			return std::chrono::duration<double>(std::chrono::steady_clock::now() -
							     start)
				.count();
		};
		std::printf("seed %llu\n", static_cast<unsigned long long>(options_.seed));
		std::uint64_t next = 0;
		while (next < options_.programs &&
		       (!options_.seconds || elapsed() < options_.seconds)) {
			std::vector<Job> jobs;
			for (; jobs.size() < options_.batch && next < options_.programs; next++)
				jobs.push_back(
					{program(options_.seed + next), options_.seed + next});
			check(jobs);
		}
		std::printf(
			"%llu programs in %.0f s: %llu can deadlock, in %llu ways; %llu cycles told "
			"by the judge; %llu in the report, %llu of them errors and %llu hidden\n",
			static_cast<unsigned long long>(next), elapsed(), counts_["can"],
			counts_["ways"], counts_["judge"], counts_["report"], counts_["errors"],
			counts_["hidden"]);
		for (const auto &[what, number] : known_)
			std::printf("%llu %s\n", number, what.c_str());
		for (const auto &[rule, number] : disagreements_)
			std::printf("%llu disagreements: %s\n", number, rule.c_str());
		if (disagreements_.empty())
			std::printf("no disagreement beyond what docs/oracle.md lists\n");
		return disagreements_.empty() ? 0 : 1;
	}

private:
	std::vector<Outcome> outcomes(const std::vector<Job> &jobs)
	{
		auto out = run_session(jobs, folder_.path());
		if (!out)
			fail(out.error().what, 3);
		return std::move(*out);
	}

	void check(const std::vector<Job> &jobs)
	{
		const auto all = outcomes(jobs);
		for (std::size_t i = 0; i < jobs.size(); i++) {
			const auto answer = search(jobs[i].program);
			count(answer.can, all[i]);
			if (options_.show)
				show(jobs[i], answer.can, all[i]);
			for (auto &d : compare(jobs[i].program, answer, all[i])) {
				if (!options_.gates && d.cause == kReleasedHolds)
					d.cause.clear();
				if (d.cause.empty())
					d.cause = cause_of(jobs[i], answer, d);
				if (!d.cause.empty() && d.cause != options_.explain) {
					known_[d.rule + ", known as " + d.cause]++;
					if (options_.list)
						list(jobs[i], d);
					continue;
				}
				if (disagreements_[d.rule]++ < options_.examples)
					report(jobs[i], d.rule, d.cause);
			}
		}
	}

	Program program(std::uint64_t seed) const
	{
		return options_.gates ? generate_gated(seed) : generate(seed);
	}

	static void list(const Job &job, const Disagreement &d)
	{
		std::printf("program %llu: %s, known as %s\n",
			    static_cast<unsigned long long>(job.salt), d.rule.c_str(),
			    d.cause.c_str());
		std::fflush(stdout);
	}

	/// Does @d stay when the program runs as @job?
	bool stays(const Job &job, const Answer &answer, const Disagreement &d)
	{
		const auto again = compare(job.program, answer, outcomes({job}).front());
		return std::any_of(again.begin(), again.end(), [&](const Disagreement &other) {
			return other.rule == d.rule && other.about == d.about;
		});
	}

	/// What the module cannot know for lack of room makes a difference.
	std::string cause_of(const Job &job, const Answer &answer, const Disagreement &d)
	{
		/* Signatures of other addresses have other bits in common. */
		for (std::uint64_t salt = 1; salt < 4; salt++)
			if (!stays({job.program, job.salt + salt}, answer, d))
				return "signature";
		return "";
	}

	void count(const std::vector<Deadlock> &can, const Outcome &outcome)
	{
		counts_["can"] += !can.empty();
		counts_["ways"] += can.size();
		counts_["judge"] += outcome.judge.size();
		for (const Said &said : outcome.report) {
			counts_["report"]++;
			counts_["errors"] += said.severity == Severity::Error;
			counts_["hidden"] += said.hidden;
		}
	}

	void show(const Job &job, const std::vector<Deadlock> &can, const Outcome &outcome)
	{
		std::printf("program %llu\n%s", static_cast<unsigned long long>(job.salt),
			    job.program.text().c_str());
		for (const auto &deadlock : can)
			std::printf("  can: %s\n", text(job.program, deadlock).c_str());
		for (const auto &said : outcome.judge) {
			std::printf("  judge:");
			for (const auto &d : said.dependencies)
				std::printf(" %d->%d", d.from, d.to);
			std::printf("\n");
		}
		for (const auto &said : outcome.report)
			std::printf("  report: %s\n", said.text.c_str());
	}

	bool breaks(const Job &job, const std::string &rule, const std::string &cause)
	{
		const auto answer = search(job.program);
		for (const auto &d : compare(job.program, answer, outcomes({job}).front()))
			if (d.rule == rule &&
			    (d.cause.empty() ? cause_of(job, answer, d) : d.cause) == cause)
				return true;
		return false;
	}

	/// Print the smallest program found that breaks @rule for that @cause.
	void report(Job job, const std::string &rule, const std::string &cause)
	{
		std::printf("\n%s: program %llu\n", rule.c_str(),
			    static_cast<unsigned long long>(job.salt));
		if (!breaks(job, rule, cause)) {
			std::printf("  only beside other programs\n");
			return;
		}
		for (bool smaller_one = true; smaller_one;) {
			smaller_one = false;
			for (auto &candidate : smaller(job.program)) {
				Job next{std::move(candidate), job.salt};
				if (!breaks(next, rule, cause))
					continue;
				job = std::move(next);
				smaller_one = true;
				break;
			}
		}
		const auto outcome = outcomes({job}).front();
		const auto answer = search(job.program);
		show(job, answer.can, outcome);
		for (const auto &d : compare(job.program, answer, outcome))
			std::printf("  %s: %s%s\n", d.rule.c_str(), d.text.c_str(),
				    d.cause.empty() ? "" : (" (known as " + d.cause + ")").c_str());
		std::fflush(stdout);
	}

	const Options options_;
	Folder folder_;
	std::map<std::string, unsigned long long> counts_, disagreements_, known_;
};

} // namespace

int main(int argc, char **argv)
{
	return Oracle(parse(argc, argv)).run();
}
