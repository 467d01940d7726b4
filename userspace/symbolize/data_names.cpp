// SPDX-License-Identifier: GPL-2.0
#include "symbolize/data_names.h"

namespace lockscope {

std::string DataNames::type(const DataRecord &data)
{
	if (data.kind != LS_DATA_SLAB && data.kind != LS_DATA_PERCPU && data.kind != LS_DATA_ALLOC)
		return {};
	/* It may have become merged when the last module was loaded. */
	if (data.kind == LS_DATA_SLAB && fields_.merged(data.name))
		return {};
	std::string &type =
		types_[{data.kind, data.kind == LS_DATA_ALLOC ? data.object_size : 0, data.name}];
	if (!type.empty())
		return type;
	switch (data.kind) {
	case LS_DATA_SLAB:
		type = fields_.type_of_cache(data.name, data.object_size);
		break;
	case LS_DATA_ALLOC:
		type = classes_.allocated(data.name, data.module, data.object_size);
		break;
	default:
		type = fields_.type_of_percpu(data.name.substr(data.name.rfind(':') + 1));
	}
	return type;
}

std::string DataNames::member(const DataRecord &data, std::uint32_t offset, ls_kind lock)
{
	const std::string type = this->type(data);
	return type.empty() ? std::string() : fields_.path(type, offset, lock);
}

std::string DataNames::pointee(const DataRecord &data, std::uint32_t via, std::uint32_t offset,
			       ls_kind lock)
{
	const std::string type = this->type(data);
	return type.empty() ? std::string() : fields_.pointee(type, via, offset, lock);
}

} // namespace lockscope
