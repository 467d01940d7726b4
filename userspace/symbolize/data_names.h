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

/// Names of data for a recorder; see symbolize/fields.h.
class DataNamer {
public:
	virtual ~DataNamer() = default;
	/// The type, "struct foo" or "int"; empty when it is unknown.
	virtual std::string type(const DataRecord &data) = 0;
	/// Path of the innermost member at @offset, or of the lock of that kind there; empty
	/// when it is unknown.
	virtual std::string member(const DataRecord &data, std::uint32_t offset, ls_kind lock) = 0;
	/// "struct foo.lock" for the lock of that kind @offset bytes from the target of the
	/// pointer at @via, by the pointer's type; empty when it is unknown.
	virtual std::string pointee(const DataRecord &data, std::uint32_t via, std::uint32_t offset,
				    ls_kind lock) = 0;
};

/// Names from the types of the running kernel.
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
	/// By kind, allocation size and name.
	std::map<std::tuple<std::uint8_t, std::uint32_t, std::string>, std::string> types_;
};

} // namespace lockscope
