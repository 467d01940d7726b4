// SPDX-License-Identifier: GPL-2.0
// record --confirm: findings are proven or refuted while they are recorded.
#pragma once

#include "confirm/prover.h"

#include <chrono>
#include <set>
#include <string>

namespace lockscope::cli {

class LiveProof {
public:
	/// @session outlives this.
	explicit LiveProof(Session &session) : session_(session), prover_(session, {}) {}

	/// Look from time to time for new findings among the first ones in rank order, and read
	/// what the gates show. Call it a few times a second, after drain().
	Status tick();
	/// Open all gates.
	Status end() { return prover_.end(); }
	/// Store the verdicts, after Session::finish(). How many findings were confirmed.
	Result<std::size_t> store_verdicts();
	std::size_t planned() const { return prover_.size(); }

private:
	using Clock = std::chrono::steady_clock;
	Status look();

	Session &session_;
	Prover prover_;
	std::set<std::string> known_; ///< ids of findings with a plan, or that can have none
	Clock::time_point next_{};
};

} // namespace lockscope::cli
