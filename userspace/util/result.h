// SPDX-License-Identifier: GPL-2.0
// Errors as values: a function that can fail returns Result<T>, and the
// compiler refuses to let the caller drop it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace lockscope {

/// Exit status of every program, see docs/verdict.md.
enum class Exit : int { Clean = 0, Findings = 1, Usage = 2, Environment = 3, Interrupted = 130 };

/// A problem, in one line that names the object, and what to do next.
struct [[nodiscard]] Error {
	int code = 0;	  ///< errno of the cause, 0 when there is none
	std::string what; ///< one line, no final full stop, no newline
	std::string hint; ///< one line with the remedy
	Exit exit = Exit::Environment;
};

/// "what: strerror(code)" (0 adds nothing), and the hint; by default a general one.
[[nodiscard]] Error os_error(int code, std::string what, std::string hint = {});
[[nodiscard]] Error usage_error(std::string what, std::string hint);

struct Nothing {};

/// Either a value or an Error.
template <typename T = Nothing> class [[nodiscard]] Result {
public:
	Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
	Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

	bool ok() const { return state_.index() == 0; }
	explicit operator bool() const { return ok(); }

	T &value() { return *std::get_if<0>(&state_); }
	const T &value() const { return *std::get_if<0>(&state_); }
	T &operator*() { return value(); }
	const T &operator*() const { return value(); }
	T *operator->() { return &value(); }
	const T *operator->() const { return &value(); }
	const Error &error() const { return *std::get_if<1>(&state_); }

private:
	std::variant<T, Error> state_;
};

using Status = Result<Nothing>;
inline Status success()
{
	return Nothing{};
}

} // namespace lockscope

/// Return the error of @expr from the function, if it has one.
#define LS_TRY_STATUS(expr)                                                                        \
	do {                                                                                       \
		if (auto ls_status_ = (expr); !ls_status_)                                         \
			return ls_status_.error();                                                 \
	} while (0)
