// SPDX-License-Identifier: GPL-2.0
#include "cli/live_proof.h"

#include "analysis/filters/annotations.h"
#include "analysis/findings.h"

namespace lockscope::cli {

namespace {

constexpr std::size_t kFirstFindings = 32;
/* Loading and analysing take at most this share of the time. */
constexpr int kRestAfterLook = 15;
constexpr auto kLeastRest = std::chrono::seconds(1);

} // namespace

Status LiveProof::look()
{
	auto model = session_.stored();
	if (!model)
		return model.error();
	LS_TRY_STATUS(annotations::load(*model));
	const Analysis analysis = analyse(*model);
	std::size_t rank = 0;
	for (const auto &finding : analysis.findings) {
		if (finding.hidden())
			continue;
		if (++rank > kFirstFindings || prover_.size() >= LS_CONFIRM_PLANS)
			break;
		if (!known_.insert(finding.id).second)
			continue;
		if (auto plan = plan_for(*model, finding))
			prover_.add(std::move(*plan));
	}
	return success();
}

Status LiveProof::tick()
{
	const auto begin = Clock::now();
	if (begin >= next_) {
		LS_TRY_STATUS(look());
		const auto end = Clock::now();
		next_ = end + std::max<Clock::duration>((end - begin) * kRestAfterLook, kLeastRest);
	}
	return prover_.tick();
}

Result<std::size_t> LiveProof::store_verdicts()
{
	std::size_t confirmed = 0;
	for (std::size_t i = 0; i < prover_.size(); i++) {
		const Verdict verdict = prover_.verdict(i);
		LS_TRY_STATUS(session_.recorder().put_verdict(verdict));
		confirmed += verdict.result == VerdictResult::Confirmed;
	}
	return confirmed;
}

} // namespace lockscope::cli
