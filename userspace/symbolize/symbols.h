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

/// Gives code addresses a name while the code is still there.
class SymbolSource {
public:
	virtual ~SymbolSource() = default;
	/// @ip is a return address. Nothing when it is not known (any more).
	virtual std::optional<Location> find(std::uint64_t ip) = 0;
	/// A module's code has come or goes; addresses asked for from now on are of later.
	virtual void module_changed(const ModuleRecord &) {}
	/// Of the kernel ("vmlinux") or a module, in hex digits; empty when it is
	/// not known.
	virtual std::string build_id(const std::string &) { return {}; }
};

/// For sources whose addresses are not of this kernel.
class NoSymbols final : public SymbolSource {
public:
	std::optional<Location> find(std::uint64_t) override { return std::nullopt; }
};

/// A symbol table in the format of /proc/kallsyms.
class SymbolTable {
public:
	/// Where a module lies.
	struct Range {
		std::uint64_t begin, end;
		std::string module;
		bool operator==(const Range &) const = default;
	};

	/// Takes text symbols only. Errors: nothing in it, or addresses hidden
	/// (all zero), as an unprivileged reader gets them.
	static Result<SymbolTable> parse(const std::string &text);

	/// The function that contains the byte before @ip: a call that does not
	/// return may be the last instruction of its function.
	std::optional<Location> find(std::uint64_t ip) const;
	/// The same of code that is known to be that module's.
	std::optional<Location> find(std::uint64_t ip, const Range &within) const;

	/// Where the kernel's function @name lies, and what a compiler has made of it:
	/// NAME.part.0, NAME.cold, NAME.isra.0.constprop.0.
	std::vector<Range> ranges(const std::string &name) const;

	/// Forgets names of code that lay where @modules, in order of where they begin, have
	/// theirs now, or where a newer one began: ftrace remembers those of code that was for
	/// a module's start only.
	/// @packed: a range is longer than its module's code.
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

/// The running kernel. The table is read again when modules have come or gone
/// and an address is not found in the old one.
class KernelSymbols final : public SymbolSource {
public:
	/// @proc: where kallsyms and modules are read.
	explicit KernelSymbols(std::string proc = "/proc") : proc_(std::move(proc)) {}

	std::optional<Location> find(std::uint64_t ip) override;
	/// Code of modules that were made known so is named by their symbols alone.
	void module_changed(const ModuleRecord &record) override;
	std::string build_id(const std::string &module) override;
	/// As SymbolTable has it; nothing when there is no table.
	std::vector<SymbolTable::Range> ranges(const std::string &name);

private:
	using Range = SymbolTable::Range;
	using Clock = std::chrono::steady_clock;
	bool refresh();
	std::vector<Range> read_modules() const;
	std::optional<Range> owner(std::uint64_t ip) const;
	bool misplaced(const Location &found, std::uint64_t ip) const;

	std::string proc_;
	std::optional<SymbolTable> table_;
	std::vector<Range> ranges_; ///< in order of where they begin
	std::vector<Range> areas_;  ///< where modules' code is known to lie; none overlap
	bool packed_ = false;	    ///< ranges overlap, or may: they are more than code
	std::unordered_map<std::string, std::string> build_ids_;
	Clock::time_point read_again_; ///< at the earliest, when no module came or went
};

} // namespace lockscope
