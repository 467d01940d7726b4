// SPDX-License-Identifier: GPL-2.0
// Members of objects and variables, from the kernel's type information.
#pragma once

#include "log/log.h"
#include "symbolize/class_field.h"
#include "symbolize/fields.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace lockscope {

/// What a recorder names data by; see symbolize/fields.h.
class DataNamer {
public:
	virtual ~DataNamer() = default;
	/// The type, "struct foo" or "int"; empty when it is not known.
	virtual std::string type(const DataRecord &data) = 0;
	/// Path of the innermost member at @offset, or of the lock of that kind
	/// there; empty when it is not known.
	virtual std::string member(const DataRecord &data, std::uint32_t offset, ls_kind lock) = 0;
	/// "struct foo.lock" for the lock of that kind @offset bytes from where the
	/// pointer at @via leads to, by the pointer's type; empty when it is not known.
	virtual std::string pointee(const DataRecord &data, std::uint32_t via,
				    std::uint32_t offset, ls_kind lock) = 0;
};

/// By the types of the running kernel.
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
