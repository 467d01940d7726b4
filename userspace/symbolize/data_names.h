// SPDX-License-Identifier: GPL-2.0
// Members of objects and variables, from the kernel's type information.
#pragma once

#include "record/recorder.h"
#include "symbolize/fields.h"

#include <string>
#include <unordered_map>

namespace lockscope {

class DataNames final : public DataNamer {
public:
	explicit DataNames(FieldNames &fields) : fields_(fields) {}

	std::string type(const DataRecord &data) override;
	std::string member(const DataRecord &data, std::uint32_t offset, ls_kind lock) override;

private:
	FieldNames &fields_;
	std::unordered_map<std::string, std::string> types_; ///< by kind and name
};

} // namespace lockscope
