// SPDX-License-Identifier: GPL-2.0
#include "report/source_lines.h"

#include "symbolize/debug_files.h"
#include "util/text.h"

#include <map>
#include <set>
#include <vector>

namespace lockscope {

std::string without_source_lines(const Model &model)
{
	/* Some code has none in any case, such as entry points in assembly: a kernel with any
	 * line has its debug information. */
	std::map<std::string, bool> has_lines;
	for (const auto &code : model.code)
		if (code.module == "vmlinux" && !code.build_id.empty()) {
			bool &any = has_lines.try_emplace(code.build_id, false).first->second;
			any = any || !code.lines.empty();
		}
	std::set<std::string> kernels, packages;
	for (const auto &run : model.runs) {
		const auto code = has_lines.find(run.build_id);
		const auto package = debug_packages(run.release);
		if (code == has_lines.end() || code->second || package.empty())
			continue;
		kernels.insert(run.release);
		packages.insert(package.front());
	}
	if (kernels.empty())
		return {};
	return "none of kernel " + join({kernels.begin(), kernels.end()}, ", ") +
	       "; lockscope symbols fetch STORE adds them, from " +
	       join({packages.begin(), packages.end()}, ", ");
}

} // namespace lockscope
