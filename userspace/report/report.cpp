// SPDX-License-Identifier: GPL-2.0
#include "report/report.h"

namespace lockscope {

std::vector<const Finding *> select_findings(const Analysis &analysis, const ReportOptions &options)
{
	std::vector<const Finding *> out;
	for (const auto &finding : analysis.findings) {
		if (options.limit && out.size() == options.limit)
			break;
		if ((finding.hidden() && !options.all) ||
		    finding.confidence < options.min_confidence)
			continue;
		out.push_back(&finding);
	}
	return out;
}

const char *dependency_name(std::uint32_t kind)
{
	switch (kind) {
	case LS_DEP_ER:
		return "ER";
	case LS_DEP_EN:
		return "EN";
	case LS_DEP_SR:
		return "SR";
	default:
		return "SN";
	}
}

const std::vector<std::string> &blind_spots()
{
	static const std::vector<std::string> spots = {
		"percpu-rwsem readers on their fast path",
		"bit spinlocks and local_lock, which are inlined",
		"interrupts disabled by inlined code, but for their state at each acquire",
		"locks already held when the module was loaded",
		"what wait queues wait for",
	};
	return spots;
}

} // namespace lockscope
