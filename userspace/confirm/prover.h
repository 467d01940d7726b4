// SPDX-License-Identifier: GPL-2.0
// Keeps the module's plans in step with the code that is loaded, and judges what they show.
#pragma once

#include "confirm/judgement.h"
#include "record/session.h"
#include "symbolize/symbols.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

class Prover {
public:
	/// Nothing is held before tick(). @session has to outlive this.
	Prover(Session &session, std::vector<PlannedFinding> findings);

	/// One more finding, from the next tick() on.
	void add(PlannedFinding finding);
	/// Set the plans again when code came or went, and read what they show. Call it a few
	/// times a second.
	Status tick();
	/// No finding needs more time.
	bool settled() const;
	/// Open all gates.
	Status end();
	/// Forget what was seen, and begin anew with the next tick().
	void restart();

	std::size_t size() const { return proofs_.size(); }
	const PlannedFinding &finding(std::size_t i) const { return findings_[i]; }
	/// The verdict by now.
	Verdict verdict(std::size_t i) const;
	/// Seconds until it was confirmed; nullopt: it is not.
	std::optional<double> seconds_to_confirm(std::size_t i) const;

private:
	using Clock = std::chrono::steady_clock;

	struct Proof {
		std::unique_ptr<ls_confirm_state> before; ///< of plans that were replaced
		std::unique_ptr<ls_confirm_state> now;	  ///< of the present plan, if there is one
		std::optional<Clock::time_point> since;	  ///< of the present plan
		std::optional<Clock::time_point> confirmed; ///< the first time
		double seconds = 0;			    ///< with earlier plans
		double read_at = 0; ///< in seconds as above, the last reading of its state
		double until_confirmed = 0;
		bool settled = false;
	};

	Status replan();
	ls_confirm_state total(const Proof &proof) const;
	double seconds(const Proof &proof) const;
	bool proven_race(std::size_t i) const;
	ConfirmNames names() const;

	Session &session_;
	std::vector<PlannedFinding> findings_;
	std::vector<Proof> proofs_;
	ResolvedPlan plan_;
	mutable KernelSymbols symbols_;
	std::optional<std::size_t> generation_;
	bool changed_ = true;
};

} // namespace lockscope
