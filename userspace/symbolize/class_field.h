// SPDX-License-Identifier: GPL-2.0
// Fields of lock classes: what the types of the running kernel say of the memory
// that a lock lies in.
#pragma once

#include "log/log.h"
#include "symbolize/fields.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockscope {

class ClassFields {
public:
	explicit ClassFields(FieldNames &names) : names_(names) {}

	/// What is known of the class by now. Asked again after more classes were, it may
	/// know more: all locks of one sort of object tell its type together.
	/// ClassRecord::module of a cache: whose types it may hold, besides the kernel's.
	LockField find(const ClassRecord &record);

	/// "struct foo" of what @function of @module allocates; empty when it is not known.
	std::string allocated(const std::string &function, const std::string &module,
			      std::uint32_t object_size);

private:
	/// Objects of one sort: of one cache, or from one allocating function.
	struct Objects {
		std::vector<FieldNames::LockPlace> places;
		std::set<std::string> missed; ///< names that tell no type
		bool handed_out = false;      ///< by the allocating function: as sure as can be
		std::string module, type;
		std::size_t tried = 0; ///< places when the type was looked for in @module
	};
	const std::string &type_of(Objects &objects, const std::string &module,
				   std::uint32_t least, std::uint32_t most);
	LockField in_cache(const ClassRecord &record);
	LockField in_allocation(const ClassRecord &record);

	FieldNames &names_;
	std::map<std::string, Objects> objects_;
};

} // namespace lockscope
