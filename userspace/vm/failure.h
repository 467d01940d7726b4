// SPDX-License-Identifier: GPL-2.0
// What a VM run can end with when it is not the command's own exit status.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace lockscope::vm {

// Exit statuses of `lockscope vm run` besides the command's own; the first two
// are the tool's usual ones, the others follow timeout(1) and env(1).
enum Status : int {
	kUsage = 2,
	kEnvironment = 3,
	kTimedOut = 124,
	kGuestLost = 125,
	kInterrupted = 130,
};

struct Failure {
	int status = kEnvironment;
	std::string message; // one line, says what failed
	std::string hint;    // one line, says what to do
};

// A value or the reason why there is none; must be looked at.
template <class T> class [[nodiscard]] Result {
public:
	Result(T value) : state_(std::move(value)) {}
	Result(Failure failure) : state_(std::move(failure)) {}

	explicit operator bool() const { return std::holds_alternative<T>(state_); }
	T &operator*() { return std::get<T>(state_); }
	const T &operator*() const { return std::get<T>(state_); }
	T *operator->() { return &std::get<T>(state_); }
	const Failure &failure() const { return std::get<Failure>(state_); }

private:
	std::variant<T, Failure> state_;
};

} // namespace lockscope::vm
