// SPDX-License-Identifier: GPL-2.0
// Watching the accesses of unmodified code: functions are decoded, and some of
// their access sites at a time have probes.
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
	std::vector<std::string> patterns; ///< see decode/sites.h, or "@FILE" with one a line
	std::size_t live = 400;		   ///< at a time
	double budget = 5;		   ///< per cent of all processors
};

/// The sites that @patterns mean in @code.
struct ProbeSites {
	std::vector<ls_site> sites;
	std::size_t functions = 0;
	std::size_t unread = 0; ///< functions whose code could not be read
	std::size_t absent = 0; ///< patterns out of files that fit nothing
};
/// Errors: a pattern that fits nothing, unless it comes from a file of which
/// another one does; a file that cannot be read; no access at all.
Result<ProbeSites> probe_sites(const CodeSource &code, const std::vector<std::string> &patterns,
			       const std::vector<AddressRange> &refused);

/// How many hits a second may cost @budget per cent of @processors.
double hits_within(double budget, unsigned int processors);

class Probes {
public:
	using Clock = std::chrono::steady_clock;

	/// Decode, and put the first probes. @source has to stay. Errors: as
	/// probe_sites(), no permission, a module that has no probes.
	static Result<std::unique_ptr<Probes>> begin(Source &source, const ProbeOptions &options);
	/// The same without the running kernel. @code: of what @source is.
	static Result<std::unique_ptr<Probes>> begin(Source &source, const ProbeOptions &options,
						     const CodeSource &code,
						     const std::vector<AddressRange> &refused);
	Probes(const Probes &) = delete;
	Probes &operator=(const Probes &) = delete;
	~Probes();

	/// Call often: keeps to the budget, and lets others have their turn.
	Status tick(Clock::time_point now = Clock::now());
	/// Take all probes away.
	Status end();
	/// What came of it, in words, one line.
	std::string summary() const;

private:
	Probes(Source &source, Rotation rotation, ProbeSites found);
	Status arm();
	/// How many give way at a time.
	std::size_t step() const;
	Status measure(Clock::time_point now);

	Source &source_;
	Rotation rotation_;
	ProbeSites found_; ///< without the sites
	ls_access_info before_{}, after_{};
	std::size_t armed_ = 0; ///< sites last given to the module
	Clock::time_point next_step_, measured_;
	bool stepping_ = false, turn_measured_ = false;
};

} // namespace lockscope
