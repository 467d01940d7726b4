// SPDX-License-Identifier: GPL-2.0
// The calls and definitions of a C source file that annotations of locks need. Without
// preprocessing: both branches of an #if are read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope::annotations {

/// A call, or the use of a macro with arguments.
struct Call {
	std::string callee;
	std::uint32_t line = 0, column = 0; ///< of the callee's name, from 1
	std::uint32_t last_line = 0;	    ///< of the closing parenthesis
	std::vector<std::string> arguments; ///< at most one space between tokens
};

/// A function, a prototype or a macro with arguments.
struct Definition {
	std::string name;
	std::uint32_t line = 0, last_line = 0; ///< of the name; of the body's end
	bool macro = false, body = false, is_static = false;
	std::vector<std::string> parameters;
	std::vector<Call> calls; ///< those selected by @wanted
};

/// A short "#define NAME TEXT", with or without arguments, or an enumerator: empty text means
/// one more than the enumerator @after, or 0 if there is none.
struct Constant {
	std::string name, text, after;
	std::vector<std::string> parameters;
};

struct FileContent {
	std::vector<Definition> definitions; ///< in the order of the file
	std::vector<Constant> constants;
};

/// @wanted selects the calls to keep; prototypes without a wanted name and functions without
/// calls are not kept. Accepts any text.
FileContent scan(std::string_view text, const std::function<bool(std::string_view)> &wanted);

/// Replace the identifiers in @text that are @parameters by the arguments.
std::string substitute(const std::string &text, const std::vector<std::string> &parameters,
		       const std::vector<std::string> &arguments);

/// Is one of @names an identifier in @text?
bool mentions(const std::string &text, const std::vector<std::string> &names);

} // namespace lockscope::annotations
