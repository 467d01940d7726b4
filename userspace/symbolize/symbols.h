// SPDX-License-Identifier: GPL-2.0
// Code addresses to functions.
#pragma once

#include "log/log.h"
#include "model/symbols.h"
#include "util/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Resolves code addresses while the code exists.
class SymbolSource {
public:
	virtual ~SymbolSource() = default;
	/// @ip is a return address. nullopt when it is unknown, or not known any more.
	virtual std::optional<Location> find(std::uint64_t ip) = 0;
	/// A module's code is added or removed; it applies to later look-ups.
	virtual void module_changed(const ModuleRecord &) {}
	/// Build id of the kernel ("vmlinux") or a module, in hex digits; empty when it is
	/// unknown.
	virtual std::string build_id(const std::string &) { return {}; }
};

/// For sources with addresses of another kernel.
class NoSymbols final : public SymbolSource {
public:
	std::optional<Location> find(std::uint64_t) override { return std::nullopt; }
};

/// A symbol table in the format of /proc/kallsyms.
class SymbolTable {
public:
	/// Address range of a module.
	struct Range {
		std::uint64_t begin, end;
		std::string module;
		bool operator==(const Range &) const = default;
	};

	/// Text symbols only. Errors: no symbols, or hidden addresses (all zero), as
	/// unprivileged readers see them.
	static Result<SymbolTable> parse(const std::string &text);

	/// The function that contains the byte before @ip: a call that does not
	/// return may be the last instruction of its function.
	std::optional<Location> find(std::uint64_t ip) const;
	/// The same for code known to be in that module.
	std::optional<Location> find(std::uint64_t ip, const Range &within) const;

	/// Ranges of the kernel's function @name and its clones and parts: NAME.part.0,
	/// NAME.cold, NAME.isra.0.constprop.0.
	std::vector<Range> ranges(const std::string &name) const;

	/// Start of each function @name of @module, "vmlinux" or another.
	std::vector<std::uint64_t> starts(const std::string &name, const std::string &module) const;

	/// Remove names of code in the present ranges of @modules, sorted by start, or where a
	/// newer one began: ftrace keeps records of freed init code. @packed: a range is
	/// longer than its module's code.
	void forget_replaced(const std::vector<Range> &modules, bool packed);

private:
	struct Symbol {
		std::uint64_t address;
		std::uint32_t name;   ///< offset in names_
		std::uint16_t module; ///< index into modules_, 0 is the kernel
	};
	std::vector<Symbol> symbols_;
	std::string names_;
	std::vector<std::string> modules_;
};

/// The running kernel. The table is read again when modules were loaded or unloaded and an
/// address is not in the old one.
class KernelSymbols final : public SymbolSource {
public:
	/// @proc: folder of kallsyms and modules; @sys: of the kernel's and modules' build ids.
	explicit KernelSymbols(std::string proc = "/proc", std::string sys = "/sys")
		: proc_(std::move(proc)), sys_(std::move(sys))
	{
	}

	std::optional<Location> find(std::uint64_t ip) override;
	/// Code of modules reported here is only named by their own symbols.
	void module_changed(const ModuleRecord &record) override;
	std::string build_id(const std::string &module) override;
	/// Like SymbolTable::ranges(); empty when there is no table.
	std::vector<SymbolTable::Range> ranges(const std::string &name);
	/// Like SymbolTable::starts(), of modules that are there now.
	std::vector<std::uint64_t> starts(const std::string &name, const std::string &module);
	/// Changes when code was loaded or unloaded.
	std::size_t generation();

private:
	using Range = SymbolTable::Range;
	using Clock = std::chrono::steady_clock;
	bool refresh();
	std::vector<Range> read_modules() const;
	std::optional<Range> owner(std::uint64_t ip) const;
	bool misplaced(const Location &found, std::uint64_t ip) const;

	std::string proc_, sys_;
	std::optional<SymbolTable> table_;
	std::vector<Range> ranges_; ///< sorted by start
	std::vector<Range> areas_;  ///< known ranges of modules' code; they do not overlap
	bool packed_ = false;	    ///< ranges overlap, or may: they are longer than the code
	std::unordered_map<std::string, std::string> build_ids_;
	Clock::time_point read_again_; ///< earliest time, unless modules changed
};

} // namespace lockscope
