// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "source/log.h"
#include "symbolize/fields.h"

namespace lockscope {

/// What the types of the running kernel say of a class.
inline LockField class_field(FieldNames &names, const ClassRecord &record)
{
	const auto kind = static_cast<ls_kind>(record.kind);
	const auto plus = record.name.rfind("+0x");
	/* Only a named cache says what its objects are. */
	if (record.origin == LS_ORIGIN_SLAB)
		return names.find(record.name.substr(0, plus), record.object_size, record.offset,
				  kind);
	if (record.origin == LS_ORIGIN_STATIC || record.origin == LS_ORIGIN_PERCPU)
		return {"", names.variable(record.name, kind)};
	return {};
}

} // namespace lockscope
