// SPDX-License-Identifier: GPL-2.0
// One granule and its users, for tests of shadow memory.
#pragma once

#include <functional>

#include "locksets.h"

namespace lockscope::test {

constexpr std::uint64_t mu1 = 0xffff888000001000ull, mu2 = 0xffff888000002000ull;
constexpr std::uint16_t A = 10, B = 11, C = 12;
constexpr std::uint8_t kRead = LS_ACC_READ, kWrite = LS_ACC_WRITE,
		       kMarkedRead = LS_ACC_READ | LS_ACC_MARKED,
		       kMarkedWrite = LS_ACC_WRITE | LS_ACC_MARKED,
		       kAtomic = LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC;

// A site does one thing only, so its number is made of the context's and the
// operation's unless a test says otherwise.
struct Memory {
	explicit Memory(bool pass_on = false) : ops(LS_SHADOW_MAX_SITE + 1)
	{
		rules.sets = &sets.all;
		rules.ops = static_cast<ls_u8 *>(ops.get());
		rules.pass_on = pass_on;
	}
	static std::uint32_t site(std::uint16_t context, std::uint8_t op)
	{
		return context * 16u + op;
	}
	ls_shadow_access make(std::uint16_t context, std::uint8_t op, const Locks &held,
			      std::uint8_t bytes = 0xff)
	{
		ls_shadow_access a{};

		a.site = site(context, op);
		a.lockset = sets.of(held);
		a.stamp = stamp;
		a.context = context;
		a.bytes = bytes;
		a.op = op;
		return a;
	}
	ls_shadow_result step(const ls_shadow_access &a)
	{
		static_cast<ls_u8 *>(ops.get())[a.site] = a.op;
		return ls_shadow_step(&granule, &a, &rules);
	}
	ls_shadow_result step(std::uint16_t context, std::uint8_t op, const Locks &held = {},
			      std::uint8_t bytes = 0xff)
	{
		return step(make(context, op, held, bytes));
	}
	// From now on @order says what is ordered.
	void order(std::function<bool(ls_u32 from, ls_u32 to, ls_u32 stamp)> order)
	{
		order_ = std::move(order);
		rules.cookie = this;
		rules.ordered = [](void *self, ls_u32 from, ls_u32 to, ls_u32 stamp) {
			return static_cast<Memory *>(self)->order_(from, to, stamp);
		};
	}
	void set_state(ls_shadow_state state)
	{
		granule = {};
		if (state == LS_VIRGIN)
			return;
		step(A, kRead, {{mu1, true}});
		if (state == LS_SHARED_READ || state == LS_SHARED_MODIFIED)
			step(B, state == LS_SHARED_READ ? kRead : kWrite, {{mu1, true}});
	}
	Locks left(const ls_shadow_result &r) const { return sets.read(r.candidates); }
	std::uint32_t owner() const { return granule.state >> 16 & 0xffff; }

	Locksets sets;
	Zeroed ops;
	ls_shadow_rules rules{};
	ls_granule granule{};
	std::uint32_t stamp = 1;

private:
	std::function<bool(ls_u32, ls_u32, ls_u32)> order_;
};

} // namespace lockscope::test
