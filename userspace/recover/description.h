// SPDX-License-Identifier: GPL-2.0
// What a kernel says of itself for tools that read its memory (vmcoreinfo) [Linux,
// Documentation/admin-guide/kdump/vmcoreinfo.rst].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace lockscope::recover {

class Description {
public:
	explicit Description(std::string_view text);

	/// Of a line KEY=VALUE; empty when there is none.
	std::string value(const std::string &key) const;
	/// Address of a symbol; nullopt when it is not described, as the next ones.
	std::optional<std::uint64_t> symbol(const std::string &name) const;
	/// "type.member": offset in bytes.
	std::optional<std::uint32_t> offset(const std::string &member) const;
	/// Bytes of a type.
	std::optional<std::uint32_t> size(const std::string &type) const;

private:
	std::optional<std::uint32_t> number(const std::string &key) const;
	std::map<std::string, std::string, std::less<>> values_;
};

} // namespace lockscope::recover
