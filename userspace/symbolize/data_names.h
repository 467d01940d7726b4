// SPDX-License-Identifier: GPL-2.0
// Members of objects and variables, from the kernel's type information.
#pragma once

#include "record/class_field.h"
#include "record/recorder.h"
#include "symbolize/fields.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace lockscope {

class DataNames final : public DataNamer {
public:
	DataNames(FieldNames &fields, ClassFields &classes) : fields_(fields), classes_(classes) {}

	std::string type(const DataRecord &data) override;
	std::string member(const DataRecord &data, std::uint32_t offset, ls_kind lock) override;
	std::string pointee(const DataRecord &data, std::uint32_t via, std::uint32_t offset,
			    ls_kind lock) override;

private:
	FieldNames &fields_;
	ClassFields &classes_;
	/// By kind, size of what was allocated, and name.
	std::map<std::tuple<std::uint8_t, std::uint32_t, std::string>, std::string> types_;
};

} // namespace lockscope
