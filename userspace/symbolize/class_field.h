// SPDX-License-Identifier: GPL-2.0
// Fields of lock classes: from the types of the memory around a lock in the running kernel.
#pragma once

#include "log/log.h"
#include "symbolize/fields.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockscope {

/// Type information about a class; see symbolize/fields.h.
using FieldNamer = std::function<LockField(const ClassRecord &)>;

class ClassFields {
public:
	explicit ClassFields(FieldNames &names) : names_(names) {}

	/// What is known of the class so far. Later calls may return more: all locks in one
	/// kind of object determine its type together. ClassRecord::module of a cache: the
	/// module whose types it may contain, besides the kernel's.
	LockField find(const ClassRecord &record);

	/// "struct foo" allocated by @function of @module; empty when it is unknown.
	std::string allocated(const std::string &function, const std::string &module,
			      std::uint32_t object_size);

private:
	/// Objects of one kind: of one cache, or of one allocating function.
	struct Objects {
		std::vector<FieldNames::LockPlace> places;
		std::set<std::string> missed; ///< names that determine no type
		bool handed_out = false;      ///< type from the allocating function: certain
		std::string module, type;
		std::size_t tried = 0; ///< number of places at the last search in @module
	};
	const std::string &type_of(Objects &objects, const std::string &module, std::uint32_t least,
				   std::uint32_t most);
	LockField in_cache(const ClassRecord &record);
	LockField in_allocation(const ClassRecord &record);
	LockField in_words(const ClassRecord &record) const;

	FieldNames &names_;
	std::map<std::string, Objects> objects_;
};

} // namespace lockscope
