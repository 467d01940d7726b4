// SPDX-License-Identifier: GPL-2.0
#include "symbolize/data_names.h"

namespace lockscope {

std::string DataNames::type(const DataRecord &data)
{
	/* Only a named cache, and a static per-CPU symbol, say what they are. */
	if (data.kind != LS_DATA_SLAB && data.kind != LS_DATA_PERCPU)
		return {};
	auto [at, added] = types_.try_emplace(std::to_string(data.kind) + data.name);
	if (added || at->second.empty())
		at->second = data.kind == LS_DATA_SLAB
				     ? fields_.type_of_cache(data.name, data.object_size)
				     : fields_.type_of_percpu(
					       data.name.substr(data.name.rfind(':') + 1));
	return at->second;
}

std::string DataNames::member(const DataRecord &data, std::uint32_t offset, ls_kind lock)
{
	const std::string type = this->type(data);
	return type.empty() ? std::string() : fields_.path(type, offset, lock);
}

} // namespace lockscope
