// SPDX-License-Identifier: GPL-2.0
// oracle_accesses [--seed N] [--programs N] [--seconds N] [--batch N] [--examples N] [--show]:
// random programs of memory accesses through the module's core and the report, against the
// definition of a race; see docs/oracle.md. The programs are those of the numbers from the seed
// on; without a seed that is a new one, which is printed. Of each kind of disagreement the
// first examples (3) are printed as the smallest program that shows it. Exits 0, 1 with a
// disagreement that docs/oracle.md does not list, 2 for a wrong option, 3 when it cannot run.
#include "selftests/oracle/run.h"
#include "verdict.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

namespace {

using namespace lockscope;
using namespace lockscope::access_oracle;

class Oracle {
public:
	explicit Oracle(const oracle::Options &options) : options_(options) {}

	int run()
	{
		const auto start = std::chrono::steady_clock::now();
		auto elapsed = [&] {
			return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
				.count();
		};
		std::printf("seed %llu\n", static_cast<unsigned long long>(options_.seed));
		std::uint64_t next = 0;
		while (next < options_.programs && (!options_.seconds || elapsed() < options_.seconds)) {
			std::vector<Job> jobs;
			for (; jobs.size() < options_.batch && next < options_.programs; next++)
				jobs.push_back({generate(options_.seed + next), options_.seed + next});
			check(jobs);
		}
		std::printf("%llu programs in %.0f s: %llu race, %llu accesses, %llu pairs that count; %llu "
			    "reported by the module; %llu in the report, %llu of them errors\n",
			    static_cast<unsigned long long>(next), elapsed(), counts_["racing"],
			    counts_["accesses"], counts_["pairs"], counts_["reported"], counts_["report"],
			    counts_["errors"]);
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
			oracle::fail(out.error().what, 3);
		return std::move(*out);
	}

	void check(const std::vector<Job> &jobs)
	{
		const auto all = outcomes(jobs);
		for (std::size_t i = 0; i < jobs.size(); i++) {
			const auto races = races_of(jobs[i].program);
			count(jobs[i].program, races, all[i]);
			if (options_.show)
				show(jobs[i], races, all[i]);
			std::map<std::string, bool> rules;
			for (const auto &d : compare(jobs[i].program, races, all[i])) {
				if (!d.cause.empty()) {
					known_[d.rule + ", known as " + d.cause]++;
					continue;
				}
				if (!rules[d.rule] && disagreements_[d.rule]++ < options_.examples)
					report(jobs[i], d.rule);
				rules[d.rule] = true;
			}
		}
	}

	void count(const Program &program, const Races &races, const Outcome &outcome)
	{
		const auto pairs = std::count_if(races.must.begin(), races.must.end(),
						 [](const Racing &race) { return race.counts; });
		counts_["racing"] += pairs != 0;
		counts_["pairs"] += static_cast<unsigned long long>(pairs);
		for (const Step &step : program.steps)
			counts_["accesses"] += step.what == Do::Access;
		for (const Judged &judged : outcome.judged)
			counts_["reported"] += judged.others.size();
		for (const Said &said : outcome.report) {
			counts_["report"]++;
			counts_["errors"] += said.severity == Severity::Error;
		}
	}

	void show(const Job &job, const Races &races, const Outcome &outcome)
	{
		std::printf("program %llu\n%s", static_cast<unsigned long long>(job.salt),
			    job.program.text().c_str());
		for (const Racing &race : races.must)
			std::printf("  races: %d and %d%s\n", race.first, race.second,
				    race.counts ? "" : ", which does not count");
		for (const Judged &judged : outcome.judged)
			for (const auto &others : judged.others)
				for (int other : others)
					std::printf("  module: %d and %d\n", other, judged.step);
		for (const Said &said : outcome.report)
			std::printf("  report: %s\n", said.text.c_str());
	}

	std::vector<Disagreement> disagreements(const Job &job)
	{
		return compare(job.program, races_of(job.program), outcomes({job}).front());
	}

	bool breaks(const Job &job, const std::string &rule)
	{
		const auto all = disagreements(job);
		return std::any_of(all.begin(), all.end(), [&](const Disagreement &d) {
			return d.rule == rule && d.cause.empty();
		});
	}

	/// Print the smallest program found that breaks @rule.
	void report(Job job, const std::string &rule)
	{
		std::printf("\n%s: program %llu\n", rule.c_str(),
			    static_cast<unsigned long long>(job.salt));
		if (!breaks(job, rule)) {
			std::printf("  only beside other programs\n");
			return;
		}
		for (bool smaller_one = true; smaller_one;) {
			smaller_one = false;
			for (auto &candidate : smaller(job.program)) {
				Job next{std::move(candidate), job.salt};
				if (!breaks(next, rule))
					continue;
				job = std::move(next);
				smaller_one = true;
				break;
			}
		}
		show(job, races_of(job.program), outcomes({job}).front());
		for (const auto &d : disagreements(job))
			std::printf("  %s: %s%s\n", d.rule.c_str(), d.text.c_str(),
				    d.cause.empty() ? "" : (" (known as " + d.cause + ")").c_str());
		std::fflush(stdout);
	}

	const oracle::Options options_;
	oracle::Folder folder_;
	std::map<std::string, unsigned long long> counts_, disagreements_, known_;
};

} // namespace

int main(int argc, char **argv)
{
	return Oracle(oracle::parse(argc, argv)).run();
}
