// SPDX-License-Identifier: GPL-2.0
// Identity of locks without the module: from observations of BPF programs to classes with the
// names that the module gives.
#pragma once

#include "bpf/order.h"
#include "log/log.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace lockscope {

class OrderClasses {
public:
	/// A symbol: name, offset of the address in it, module.
	struct Symbol {
		std::string name;
		std::uint64_t offset = 0;
		std::string module = "vmlinux";
	};
	using Lookup = std::function<std::optional<Symbol>(std::uint64_t address)>;

	/// @code and @data resolve return addresses and data. @offsets: from the start of a
	/// lock to the address that the module uses, by kind; included in its names.
	OrderClasses(Lookup code, Lookup data, std::map<ls_kind, std::uint32_t> offsets)
		: code_(std::move(code)), data_(std::move(data)), offsets_(std::move(offsets))
	{
	}

	/// Class of @lock, created if it is new; 0 when all ids are used.
	std::uint32_t find(const ls_order_lock &lock, const ls_order_ident &ident);
	/// Classes created since the last call, in order.
	std::vector<ClassRecord> take_new();
	std::uint32_t size() const { return nr_; }

private:
	std::uint32_t named(ls_kind kind, ls_origin origin, std::string name, std::string module,
			    std::uint32_t offset = 0, std::uint32_t object_size = 0);
	std::uint32_t by_site(const ls_order_lock &lock, ls_kind kind);

	Lookup code_, data_;
	std::map<ls_kind, std::uint32_t> offsets_;
	std::map<std::tuple<std::string, std::string, ls_kind>, std::uint32_t>
		by_name_; ///< + module
	std::map<std::pair<std::uint64_t, ls_kind>, std::uint32_t> by_address_, by_site_;
	std::vector<ClassRecord> new_;
	std::uint32_t nr_ = 0;
};

} // namespace lockscope
