// SPDX-License-Identifier: GPL-2.0
// lockscope confirm: make the sides of findings meet while a test runs.
#include "cli/cli.h"
#include "cli/copies.h"
#include "cli/deadly.h"
#include "cli/suppressed.h"
#include "cli/watch.h"

#include "analysis/evidence.h"
#include "analysis/filters/annotations.h"
#include "analysis/findings.h"
#include "analysis/verdicts.h"
#include "confirm/prover.h"
#include "report/report.h"
#include "source/module.h"
#include "store/load.h"
#include "util/file.h"
#include "util/stop.h"
#include "util/text.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace lockscope::cli {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr int kPollsPerTick = 2;
constexpr std::size_t kMostJobs = 64;

struct ConfirmArgs {
	std::string id, store = kDefaultStore, kmod, output;
	std::size_t top = 0, repeat = 1, jobs = 2;
	double duration = 60;
	bool hidden = false, deadly = false, errors = false;
	std::vector<std::string> command;
	SuppressionOptions suppressions;
};

/* One line of the answer. */
struct Answer {
	Finding finding;
	std::size_t confirmed = 0;	///< of all runs
	std::vector<double> seconds;	///< until it was, in each of these
	std::optional<Verdict> verdict; ///< none: there is no plan
	std::string why;		///< there is none
	bool happened = false;		///< one observation shows it: confirmed without a plan

	/* The best verdict of all runs counts. */
	void add(Verdict run, std::optional<double> after)
	{
		if (after) {
			confirmed++;
			seconds.push_back(*after);
		}
		if (!verdict || holds_over(run, *verdict))
			verdict = std::move(run);
	}
};

Result<std::vector<Finding>> chosen(const Model &model, const ConfirmArgs &options)
{
	auto analysed = analyse_with(model, options.suppressions);
	if (!analysed)
		return analysed.error();
	std::vector<Finding> out;
	for (auto &finding : analysed->findings) {
		const bool open = !options.errors || (finding.severity == Severity::Error &&
						      finding.confidence != Confidence::Confirmed);
		if (options.id.empty() ? (!finding.hidden() || options.hidden) && open &&
						 out.size() < options.top
				       : finding.id.rfind(options.id, 0) == 0)
			out.push_back(std::move(finding));
	}
	if (options.id.empty())
		return out;
	if (out.empty())
		return usage_error("no finding in " + options.store + " begins with " + options.id,
				   "ids are in lockscope report --all " + options.store);
	if (out.size() > 1)
		return usage_error(counted(out.size(), "finding") + " begin with " + options.id,
				   "give more digits, " + out[0].id + " or " + out[1].id);
	return out;
}

/* Acquire sites are offsets in the code of one build. */
Status of_this_kernel(const Model &model, const std::string &store)
{
	const std::string present = kernel_release();
	std::string other;
	for (const auto &run : model.runs) {
		if (run.release == present)
			return success();
		other = run.release;
	}
	if (model.runs.empty())
		return Error{0, store + " has no run",
			     "record one first: lockscope record -- ./my-test", Exit::Environment};
	return Error{0, store + " was recorded on kernel " + other + ", and this is " + present,
		     "record on this kernel first, or boot that one", Exit::Environment};
}

/* Repeats the command until all is settled or the time is over. @proof: of a deadly plan. */
Status run_test(const ConfirmArgs &options, Session &session, Prover &prover, Copies &test,
		DeadlyProof *proof)
{
	const auto start = Clock::now();
	const auto over = [&] {
		return stop_signal() != 0 || prover.settled() ||
		       Clock::now() - start >= std::chrono::duration<double>(options.duration);
	};
	/* Its sides are kept apart from the start. */
	LS_TRY_STATUS(prover.tick());
	for (int i = 0; !over(); i++) {
		LS_TRY_STATUS(test.tick());
		std::this_thread::sleep_for(kPoll);
		if (i % kPollsPerTick != 0)
			continue;
		LS_TRY_STATUS(session.drain());
		LS_TRY_STATUS(prover.tick());
	}
	if (proof && prover.seconds_to_confirm(0)) {
		std::fprintf(stderr,
			     "lockscope: it is a deadlock; waiting for the kernel to report it\n");
		LS_TRY_STATUS(proof->gather(session.source()));
	}
	return success();
}

std::set<std::string> locks_of(const PlannedFinding &plan)
{
	std::set<std::string> out;
	for (const auto &side : plan.sides)
		out.insert(side.holds);
	return out;
}

/* A test may have run into a deadlock, whose tasks wait for each other now. That proves it. */
Status heed_deadlocks(Session &session, const Prover &prover, std::vector<Answer> &answers)
{
	auto model = session.stored();
	if (!model)
		return model.error();
	for (const auto &found : analyse(*model).findings) {
		if (found.kind != FindingKind::Deadlock)
			continue;
		std::set<std::string> locks;
		for (const auto cls : found.classes)
			locks.insert((*model)[cls].name);
		for (std::size_t i = 0; i < prover.size(); i++)
			for (auto &answer : answers) {
				if (answer.finding.id != prover.finding(i).id ||
				    locks != locks_of(prover.finding(i)) ||
				    answer.verdict->result == VerdictResult::Confirmed)
					continue;
				answer.verdict->result = VerdictResult::Confirmed;
				answer.verdict->reason.clear();
				answer.verdict->why =
					"its tasks wait for each other: deadlock " + found.id;
			}
	}
	return success();
}

/* No context waited: what an earlier test showed of it says more. */
bool says_less(const Answer &answer)
{
	return answer.finding.verdict && answer.verdict->result == VerdictResult::NotReached &&
	       answer.verdict->tries == 0;
}

/* The finding with its verdict, as lockscope show has it. */
Status add_finding(const DeadlyProof &proof, const ConfirmArgs &options, const std::string &id)
{
	auto model = load_stores({options.store});
	if (!model)
		return model.error();
	LS_TRY_STATUS(annotations::load(*model));
	auto analysed = analyse_with(*model, options.suppressions);
	if (!analysed)
		return analysed.error();
	for (const auto &finding : analysed->findings)
		if (finding.id == id)
			LS_TRY_STATUS(proof.add("finding.txt", text_finding(*model, finding, {})));
	return success();
}

Status prove(const ConfirmArgs &options, std::vector<Answer> &answers,
	     std::vector<PlannedFinding> plans)
{
	std::optional<DeadlyProof> proof;
	if (options.deadly) {
		auto begun = DeadlyProof::begin(options.output);
		if (!begun)
			return begun.error();
		proof.emplace(std::move(*begun));
	}
	auto module = LoadedModule::ensure(options.kmod);
	if (!module)
		return module.error();
	auto opened = Session::open({kDevicePath, options.store, {}, Hold::Always, false});
	if (!opened)
		return opened.error();
	std::unique_ptr<Session> session = std::move(*opened);
	/* Sides of a race are met at their accesses, of which none may be left out. */
	WatchOptions accesses;
	accesses.asked = std::any_of(plans.begin(), plans.end(), [](const PlannedFinding &plan) {
		return plan.sides.front().access();
	});
	accesses.accesses = accesses.asked ? "all" : "off";
	const auto go = [&]() -> Status {
		auto watch = Watch::begin(session->source(), accesses);
		if (!watch)
			return watch.error();
		Prover prover(*session, std::move(plans));
		LS_TRY_STATUS(session->begin());
		LS_TRY_STATUS(session->drain());
		catch_signals();
		Copies test(options.command, options.jobs);
		for (std::size_t run = 0; run < options.repeat && !stop_signal(); run++) {
			if (run > 0)
				prover.restart();
			LS_TRY_STATUS(run_test(options, *session, prover, test,
					       proof ? &*proof : nullptr));
			for (std::size_t i = 0; i < prover.size(); i++)
				for (auto &answer : answers)
					if (answer.finding.id == prover.finding(i).id)
						answer.add(prover.verdict(i),
							   prover.seconds_to_confirm(i));
		}
		/* Without a plan the sides of a test that still runs are not kept apart. */
		test.stop();
		LS_TRY_STATUS(prover.end());
		LS_TRY_STATUS(session->finish());
		LS_TRY_STATUS(watch->end());
		LS_TRY_STATUS(heed_deadlocks(*session, prover, answers));
		for (const auto &answer : answers)
			if (answer.verdict && !answer.happened && !says_less(answer))
				LS_TRY_STATUS(session->recorder().put_verdict(*answer.verdict));
		LS_TRY_STATUS(session->close());
		if (module->ours())
			LS_TRY_STATUS(session->recorder().end());
		if (!proof || !prover.seconds_to_confirm(0))
			return success();
		/* Tasks wait below its hooks for good. */
		module->keep();
		session.reset();
		LS_TRY_STATUS(proof->add_store(options.store));
		return add_finding(*proof, options, answers.front().finding.id);
	};
	if (auto status = go(); !status) {
		if (session)
			session->give_up(status.error());
		return status;
	}
	session.reset();
	return module->unload();
}

std::string text_of(const std::vector<Answer> &answers, std::size_t runs)
{
	std::string out;
	for (const auto &a : answers) {
		std::string word = a.verdict ? name(a.verdict->result) : "no plan";
		word.resize(std::max<std::size_t>(word.size(), 12), ' ');
		out += word + a.finding.id + "  " + a.finding.title + "\n" + std::string(12, ' ');
		if (a.verdict)
			out += describe(*a.verdict) + "\n";
		else
			out += a.why + "\n";
		if (runs > 1 && !a.seconds.empty()) {
			auto sorted = a.seconds;
			std::sort(sorted.begin(), sorted.end());
			char line[80];
			std::snprintf(line, sizeof(line), "%12sin %zu of %zu runs, median %.2f s\n",
				      "", a.confirmed, runs, sorted[sorted.size() / 2]);
			out += line;
		}
	}
	return out;
}

std::string json_of(const std::vector<Answer> &answers)
{
	Json out = Json::array();
	for (const auto &a : answers) {
		Json one{{"id", a.finding.id},
			 {"title", a.finding.title},
			 {"confirmed_runs", a.confirmed},
			 {"seconds", a.seconds}};
		if (a.verdict) {
			one["verdict"] = {{"result", name(a.verdict->result)},
					  {"why", a.verdict->why},
					  {"tries", a.verdict->tries},
					  {"evidence", Json::parse(a.verdict->evidence)}};
			if (!a.verdict->reason.empty())
				one["verdict"]["reason"] = a.verdict->reason;
		} else {
			one["verdict"] = nullptr;
			one["why"] = a.why;
		}
		out.push_back(std::move(one));
	}
	return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<int> confirm(const ConfirmArgs &options, const Globals &globals)
{
	if (options.deadly && (options.id.empty() || options.repeat > 1))
		return usage_error("--deadly ends with one deadlock",
				   "give one ID, without --repeat");
	if (options.id.empty() == (options.top == 0))
		return usage_error("confirm needs a finding",
				   "give its ID, or --top N for the first ones");
	if (::geteuid() != 0)
		return Error{EPERM, "confirming needs root", "sudo lockscope confirm ...",
			     Exit::Environment};
	std::vector<Answer> answers;
	std::vector<PlannedFinding> plans;
	{
		auto model = load_stores({options.store});
		if (!model)
			return model.error();
		LS_TRY_STATUS(annotations::load(*model));
		LS_TRY_STATUS(of_this_kernel(*model, options.store));
		auto findings = chosen(*model, options);
		if (!findings)
			return findings.error();
		for (auto &finding : *findings) {
			auto plan = plan_for(*model, finding);
			Answer answer;
			answer.finding = std::move(finding);
			if (plan && options.deadly)
				LS_TRY_STATUS(make_deadly(*model, answer.finding, *plan));
			if (plan) {
				plans.push_back(std::move(*plan));
			} else if (answer.finding.single() ||
				   answer.finding.kind == FindingKind::Deadlock ||
				   waits_for_itself(*model, answer.finding)) {
				answer.happened = true;
				answer.verdict.emplace();
				answer.verdict->finding = answer.finding.id;
				answer.verdict->result = VerdictResult::Confirmed;
				answer.verdict->why = "it happened: nothing is left to prove";
			} else {
				answer.why = plan.error().what;
			}
			answers.push_back(std::move(answer));
		}
	}
	if (!plans.empty())
		LS_TRY_STATUS(prove(options, answers, std::move(plans)));
	const int delivered =
		deliver(globals.json ? json_of(answers) : text_of(answers, options.repeat), "");
	if (delivered != 0)
		return delivered;
	if (stop_signal())
		return static_cast<int>(Exit::Interrupted);
	for (const auto &a : answers)
		if (!a.verdict || a.verdict->result == VerdictResult::NotReached)
			return static_cast<int>(Exit::Findings);
	return 0;
}

} // namespace

void add_confirm_command(CLI::App &app, Globals &globals)
{
	auto *command =
		add_command(app, "confirm",
			    "prove or refute findings: make their sides meet while COMMAND runs",
			    "lockscope confirm 61216259 run.db -- ./my-test\n"
			    "  lockscope confirm --top 20 -- ./my-test");
	auto options = std::make_shared<ConfirmArgs>();
	auto positional = std::make_shared<std::vector<std::string>>();
	command->add_option("--top", options->top, "the first so many findings, in rank order")
		->check(CLI::Range(1, LS_CONFIRM_PLANS));
	command->add_option("--duration", options->duration,
			    "seconds a run, at most; COMMAND is repeated until all is settled")
		->check(between(0.1, 1e6))
		->capture_default_str();
	command->add_option("--repeat", options->repeat,
			    "begin anew so often, and say how often it was confirmed")
		->check(CLI::Range(1, 100000))
		->capture_default_str();
	command->add_option("--jobs", options->jobs,
			    "copies of COMMAND that run beside each other; there is one until it "
			    "has run once, or for 5 s")
		->check(CLI::Range(std::size_t{1}, kMostJobs))
		->capture_default_str();
	command->add_flag(
		"--deadly", options->deadly,
		"in a guest, let the deadlock happen, and keep evidence of it in --output");
	command->add_option("-o,--output", options->output,
			    "folder for waits.txt, kernel.txt, finding.txt and lockscope.db")
		->default_val("proof")
		->needs(command->get_option("--deadly"));
	command->add_flag("--hidden", options->hidden, "with --top, hidden findings as well");
	command->add_flag("--errors", options->errors,
			  "with --top, only errors that are not confirmed yet")
		->needs("--top");
	add_kmod_option(command, options->kmod);
	command->add_option(
		       "ID_FILE", *positional,
		       "id of the finding, or the first digits of it, without --top; and the "
		       "store that has it (default lockscope.db). COMMAND is the test, after --")
		->expected(0, 2);
	add_suppression_options(command, options->suppressions);
	set_action(command, globals, [options, positional, &globals] {
		auto rest = *positional;
		options->command = globals.command;
		if (options->top == 0 && !rest.empty()) {
			options->id = rest.front();
			rest.erase(rest.begin());
		}
		if (rest.size() > 1)
			return fail(usage_error("--top takes no ID", "give one store"));
		if (!rest.empty())
			options->store = rest.front();
		auto status = confirm(*options, globals);
		return status ? *status : fail(status.error());
	});
}

} // namespace lockscope::cli
