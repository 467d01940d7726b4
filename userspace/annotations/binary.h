// SPDX-License-Identifier: GPL-2.0
// The calls in a kernel's or a module's code and their places in the source, from debug
// information.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace lockscope::annotations {

/// One inline level between the code and the function that has a symbol.
struct Level {
	std::string function;		    ///< its name in the source
	std::string file;		    ///< of the place inside, relative to the source tree
	std::uint32_t line = 0, column = 0; ///< where in this function
	bool inlined = false;
};

/// A call or, at a function's end, a jump to a function.
struct CodeCall {
	std::string target;
	std::string symbol;	   ///< of the containing function
	std::uint64_t offset = 0;  ///< of the return address in it
	std::uint64_t address = 0; ///< of the return address, as loaded by libdwfl
	bool jump = false;
	bool ambiguous = false;	   ///< another function of that name has a call at that offset
	std::vector<Level> levels; ///< innermost first; empty: not known
};

/// A function of the source that has code.
struct CodeFunction {
	std::string file, name;
	std::uint32_t line = 0; ///< of its declaration
	std::string symbol;	///< of the containing code
};

class Binary {
public:
	static Result<Binary> open(const std::string &path);
	Binary(Binary &&) noexcept;
	~Binary();

	const std::string &build_id() const { return build_id_; }
	/// Source files with code in it.
	std::set<std::string> files();
	/// Calls of functions of these names, here or elsewhere.
	std::vector<CodeCall> calls(const std::set<std::string> &targets);
	/// Functions for which @wanted returns true (file, line of the declaration).
	void functions(const std::function<bool(const std::string &, std::uint32_t)> &wanted,
		       const std::function<void(const CodeFunction &)> &out);

private:
	class Parts;
	explicit Binary(std::unique_ptr<Parts> parts);
	std::unique_ptr<Parts> parts_;
	std::string build_id_;
};

} // namespace lockscope::annotations
