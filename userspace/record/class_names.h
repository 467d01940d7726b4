// SPDX-License-Identifier: GPL-2.0
// Names of the running module's classes, without a store.
#pragma once

#include "lockclass/abi.h"
#include "log/log.h"
#include "source/source.h"
#include "symbolize/class_field.h"
#include "symbolize/fields.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockscope {

class ClassNames {
public:
	struct Name {
		std::string name;
		ls_kind kind = LS_KIND_NONE;
	};

	/// Names have the fields that @fields finds, as those of a store of the same session.
	void name_fields_by(FieldNamer fields) { namer_ = std::move(fields); }
	/// Read what was added to the log since the last call.
	Status update(Source &source);
	/// The class that @id was merged with, or @id.
	std::uint32_t canonical(std::uint32_t id) const;
	/// Name of the class of @id, a placeholder if it is unknown.
	Name find(std::uint32_t id);
	ls_kind kind(std::uint32_t id) const;

private:
	std::map<std::uint32_t, ClassRecord> records_;
	std::uint64_t log_offset_ = 0;
	std::vector<std::byte> buffer_;
	FieldNames names_;
	ClassFields fields_{names_};
	FieldNamer namer_;
};

} // namespace lockscope
