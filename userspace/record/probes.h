// SPDX-License-Identifier: GPL-2.0
// Watches accesses of unmodified code: functions are decoded, and probes rotate over their
// access sites.
#pragma once

#include "decode/code.h"
#include "record/rotation.h"
#include "source/source.h"
#include "util/result.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace lockscope {

struct ProbeOptions {
	std::vector<std::string> patterns; ///< see decode/sites.h, or "@FILE" with one per line
	std::size_t live = 400;		   ///< at a time
	double budget = 5;		   ///< per cent of all processors
};

/// The sites in @code that match @patterns.
struct ProbeSites {
	std::vector<ls_site> sites;
	std::size_t functions = 0;
	std::size_t unread = 0; ///< functions whose code could not be read
	std::size_t absent = 0; ///< patterns from files that match nothing
};
/// Errors: a pattern without a match, unless it comes from a file with another one that
/// matches; a file that cannot be read; no access at all.
Result<ProbeSites> probe_sites(const CodeSource &code, const std::vector<std::string> &patterns,
			       const std::vector<AddressRange> &refused);

/// Hits per second that cost @budget per cent of @processors.
double hits_within(double budget, unsigned int processors);

class Probes {
public:
	using Clock = std::chrono::steady_clock;

	/// Decode, and register the first probes. @source has to outlive this. Errors: as
	/// probe_sites(), no permission, a module without probes.
	static Result<std::unique_ptr<Probes>> begin(Source &source, const ProbeOptions &options);
	/// The same without the running kernel. @code: that of @source.
	static Result<std::unique_ptr<Probes>> begin(Source &source, const ProbeOptions &options,
						     const CodeSource &code,
						     const std::vector<AddressRange> &refused);
	Probes(const Probes &) = delete;
	Probes &operator=(const Probes &) = delete;
	~Probes();

	/// Call often: keeps to the budget, and rotates the probes.
	Status tick(Clock::time_point now = Clock::now());
	/// Remove all probes.
	Status end();
	/// The result as text, one line.
	std::string summary() const;
	/// How long to record, when most sites had no probe yet; else empty.
	std::string hint() const;

private:
	Probes(Source &source, Rotation rotation, ProbeSites found);
	Status arm();
	/// Number of sites replaced at a time.
	std::size_t step() const;
	Status measure(Clock::time_point now);

	Source &source_;
	Rotation rotation_;
	ProbeSites found_; ///< without the sites
	ls_access_info before_{}, after_{};
	std::size_t armed_ = 0; ///< sites last passed to the module
	Clock::time_point began_ = Clock::now(), ended_, next_step_, measured_;
	bool stepping_ = false, turn_measured_ = false;
};

} // namespace lockscope
