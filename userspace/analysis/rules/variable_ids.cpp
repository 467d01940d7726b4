// SPDX-License-Identifier: GPL-2.0
#include "analysis/rules/variable_ids.h"

#include "model/variable.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

namespace lockscope {

namespace {

bool has_offset(const Model &model, const MemoryAccess &access)
{
	return access.data != kNoData && model[access.data].kind == LS_DATA_STATIC;
}

std::string plus(std::uint32_t offset)
{
	char text[16];
	std::snprintf(text, sizeof(text), "+0x%x", offset);
	return offset ? text : "";
}

} // namespace

VariableIds::VariableIds(const Model &model) : model_(model)
{
	std::map<std::pair<DataId, CodeId>, std::set<std::uint32_t>> places;
	for (const auto &access : model.accesses)
		if (has_offset(model, access) && !model[access.at].function.empty())
			places[{access.data, access.at}].insert(access.offset);
	for (const auto &[where, offsets] : places) {
		if (offsets.size() < kElements)
			continue;
		const std::uint32_t low = *offsets.begin(), high = *offsets.rbegin();
		std::uint32_t stride = 0;
		for (auto offset : offsets)
			stride = std::gcd(stride, offset - low);
		/* At half of the places between the first and the last at least. */
		if ((high - low) / stride < 2 * offsets.size())
			arrays_[where.first].push_back({low, high, stride});
	}
}

std::string VariableIds::of(const MemoryAccess &access) const
{
	if (!has_offset(model_, access))
		return variable_of(model_, access).stable;
	const std::string &name = model_[access.data].name;
	if (auto at = arrays_.find(access.data); at != arrays_.end())
		for (const auto &[low, high, stride] : at->second)
			if (access.offset >= low && access.offset <= high &&
			    (access.offset - low) % stride == 0)
				return name + "[]" + plus(access.offset % stride);
	return name + plus(access.offset);
}

} // namespace lockscope
