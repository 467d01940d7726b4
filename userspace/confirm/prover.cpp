// SPDX-License-Identifier: GPL-2.0
#include "confirm/prover.h"

#include <ctime>

namespace lockscope {

namespace {

using namespace std::chrono_literals;

/* Time to confirm the other directions as well. */
constexpr auto kFurther = 2s;

} // namespace

Prover::Prover(Session &session, std::vector<PlannedFinding> findings)
	: session_(session), findings_(std::move(findings)), proofs_(findings_.size())
{
	for (auto &proof : proofs_)
		proof.before = std::make_unique<ls_confirm_state>();
}

void Prover::add(PlannedFinding finding)
{
	findings_.push_back(std::move(finding));
	proofs_.emplace_back().before = std::make_unique<ls_confirm_state>();
	changed_ = true;
}

ls_confirm_state Prover::total(const Proof &proof) const
{
	ls_confirm_state sum = *proof.before;
	if (proof.now)
		add_state(sum, *proof.now);
	return sum;
}

double Prover::seconds(const Proof &proof) const
{
	return proof.seconds +
	       (proof.since ? std::chrono::duration<double>(Clock::now() - *proof.since).count()
			    : 0);
}

/* Nothing is left to see of it, and while it is planned no watchpoint is armed. */
bool Prover::proven_race(std::size_t i) const
{
	return proofs_[i].settled && proofs_[i].confirmed && findings_[i].sides[0].access();
}

/*
 * Sites are resolved anew: their code may have been replaced. A confirmed deadlock stays in the
 * plan: its gates are open, but its sides still begin one after the other.
 */
Status Prover::replan()
{
	std::vector<PlannedFinding> open;
	std::vector<std::size_t> numbers;
	for (std::size_t i = 0; i < proofs_.size(); i++) {
		Proof &proof = proofs_[i];
		proof.seconds = seconds(proof);
		proof.since.reset();
		if (proof.now)
			add_state(*proof.before, *proof.now);
		proof.now.reset();
		if (proven_race(i))
			continue;
		open.push_back(findings_[i]);
		numbers.push_back(i);
	}
	plan_ = resolve(open, [this](const Code &place) {
		std::vector<std::uint64_t> out;
		for (const auto start : symbols_.starts(place.function, place.module))
			out.push_back(start + place.offset);
		return out;
	});
	/* The sides of a test that runs already may meet before the call returns. */
	const auto now = Clock::now();
	LS_TRY_STATUS(session_.source().set_plans(plan_.plans, plan_.points));
	for (auto &finding : plan_.findings) {
		finding = numbers[finding];
		proofs_[finding].since = now;
	}
	return success();
}

Status Prover::tick()
{
	const auto generation = symbols_.generation();
	if (changed_ || generation != generation_) {
		LS_TRY_STATUS(replan());
		generation_ = generation;
		changed_ = false;
	}
	for (std::size_t i = 0; i < plan_.findings.size(); i++) {
		auto state = session_.source().plan_state(static_cast<std::uint32_t>(i));
		if (!state)
			return state.error();
		Proof &proof = proofs_[plan_.findings[i]];
		proof.now = std::move(*state);
		proof.read_at = seconds(proof);
		const ls_confirm_state sum = total(proof);
		if (sum.confirmed && !proof.confirmed) {
			proof.confirmed = Clock::now();
			proof.until_confirmed = proof.read_at;
		}
		const PlannedFinding &finding = findings_[plan_.findings[i]];
		proof.settled = fully_confirmed(finding, sum) ||
				(proof.confirmed && Clock::now() - *proof.confirmed > kFurther) ||
				judge(finding, sum, proof.read_at, names()).result ==
					VerdictResult::Refuted;
		changed_ = changed_ || proven_race(plan_.findings[i]);
	}
	return success();
}

bool Prover::settled() const
{
	for (const auto &proof : proofs_)
		if (!proof.settled)
			return false;
	return true;
}

Status Prover::end()
{
	for (auto &proof : proofs_) {
		proof.seconds = seconds(proof);
		proof.since.reset();
	}
	return session_.source().set_plans({}, {});
}

void Prover::restart()
{
	for (auto &proof : proofs_) {
		proof = {};
		proof.before = std::make_unique<ls_confirm_state>();
	}
	changed_ = true;
}

std::optional<double> Prover::seconds_to_confirm(std::size_t i) const
{
	if (!proofs_[i].confirmed)
		return std::nullopt;
	return proofs_[i].until_confirmed;
}

ConfirmNames Prover::names() const
{
	return {[this](std::uint32_t id) { return session_.recorder().class_name(id); },
		[this](std::uint64_t ip) {
			const auto at = symbols_.find(ip);
			if (!at)
				return std::string("?");
			Code code;
			code.function = at->function;
			code.offset = at->offset;
			code.module = at->module;
			return place_name(code);
		}};
}

Verdict Prover::verdict(std::size_t i) const
{
	/* Not by the time of now: what was settled is judged as it was when it was read. */
	const double planned = proofs_[i].read_at;
	Verdict out = judge(findings_[i], total(proofs_[i]), planned, names());
	if (out.result == VerdictResult::NotReached && planned == 0)
		out.why = "code of it was never loaded while the test ran";
	out.time = std::time(nullptr);
	return out;
}

} // namespace lockscope
