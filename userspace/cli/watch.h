// SPDX-License-Identifier: GPL-2.0
// How memory accesses are watched while `record` runs.
#pragma once

#include "source/source.h"
#include "util/result.h"

#include <optional>
#include <string>

namespace lockscope::cli {

struct WatchOptions {
	std::string accesses = "sampled"; ///< off, sampled, all
	bool asked = false;		  ///< set by the user: then unsupported is an error
	std::string variable;		  ///< SYMBOL[+offset][:bytes]; empty: none
};

/// A variable whose history is recorded.
struct FollowedVariable {
	std::string module; ///< empty: any module
	std::string symbol;
	std::uint64_t offset = 0, bytes = 8;
};
/// "[MODULE:]SYMBOL[+offset][:bytes]", numbers as in C. Errors: anything else, more
/// than 4096 bytes.
Result<FollowedVariable> parse_variable(const std::string &text);

/// The address of the variable in @symbols, text in the format of /proc/kallsyms. Errors: no
/// such symbol, addresses hidden.
Result<std::uint64_t> find_variable(const std::string &symbols, const FollowedVariable &variable);

/// Sets what the module watches, and restores it.
class Watch {
public:
	/// @source has to outlive this.
	static Result<Watch> begin(Source &source, const WatchOptions &options);
	Watch(Watch &&other) noexcept;
	Watch &operator=(Watch &&) = delete;
	~Watch();
	/// Restore the previous settings.
	Status end();

private:
	explicit Watch(Source &source) : source_(&source) {}

	Source *source_;
	std::optional<std::uint32_t> mode_; ///< the previous one, if it was changed
	bool follows_ = false;
};

} // namespace lockscope::cli
