// SPDX-License-Identifier: GPL-2.0
// A model made by hand, for tests of locking rules.
#pragma once

#include "analysis/rules/guards.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockscope::test {

/* Accesses to members of struct foo, and to variables. */
struct Foo {
	Foo()
	{
		cls("foo_cache+0x10 struct foo.lock", LS_ORIGIN_SLAB);
		cls("list_lock", LS_ORIGIN_STATIC);
		data(LS_DATA_SLAB, "foo_cache", "struct foo");
		model.runs.emplace_back();
	}

	void cls(const std::string &name, ls_origin origin)
	{
		LockClass lock;
		lock.name = lock.stable = name;
		lock.kind = LS_KIND_SPINLOCK;
		lock.origin = origin;
		model.intern(std::move(lock));
	}

	DataId data(ls_data_kind kind, const std::string &name, const std::string &type)
	{
		Data item;
		item.kind = kind;
		item.name = name;
		item.type = type;
		return model.intern(std::move(item));
	}

	CodeId code(const std::string &function, std::uint64_t offset)
	{
		Code place;
		place.function = function;
		place.offset = offset;
		place.module = "vmlinux";
		return model.intern(std::move(place));
	}

	/* "self.lock", "-self.lock" for shared, taken in the function @by. */
	Guard guard(std::string name, const std::string &by)
	{
		Guard out;
		if (name[0] == '-') {
			name.erase(0, 1);
			out.val |= LS_SHARED << LS_VAL_READ_SHIFT;
		}
		out.at = code(by, 8);
		out.cls = ClassId{0};
		out.instance = 1;
		if (name.rfind("self", 0) == 0) {
			out.relation = LS_REL_SELF;
		} else if (name.rfind("via", 0) == 0) {
			out.relation = LS_REL_VIA;
		} else if (name.rfind("other", 0) == 0) {
			out.relation = LS_REL_OTHER;
			name = "foo_cache+0x10 struct foo.lock";
		} else {
			out.relation = LS_REL_STATIC;
			out.cls = ClassId{1};
		}
		out.name = name;
		return out;
	}

	struct How {
		std::vector<std::string> held = {};
		std::string by = ""; ///< takes the locks; the function itself
		std::string caller = "";
		std::uint32_t where = 0, op = LS_ACC_WRITE, offset = 0x20, at = 40, pid = 7;
		std::string member = "count";
		DataId data{0};
		bool alone = false;
	};

	std::size_t touch(const std::string &function, const How &how)
	{
		MemoryAccess access;
		access.data = how.data;
		access.offset = how.offset;
		access.size = 4;
		access.member = how.member;
		access.op = how.op;
		access.at = code(function, how.at);
		access.where = how.where;
		access.pid = how.pid;
		access.count = 1;
		access.time_ns = model.accesses.size() + 1;
		access.comm = "task";
		access.stack = {access.at};
		if (!how.caller.empty())
			access.stack.push_back(code(how.caller, 8));
		access.alone = how.alone;
		for (const auto &name : how.held)
			access.guards.push_back(guard(name, how.by.empty() ? function : how.by));
		model.accesses.push_back(access);
		return model.accesses.size() - 1;
	}

	/* The same in @n functions of several tasks. */
	void touch_in(std::size_t n, const std::string &prefix, How how)
	{
		for (std::size_t i = 0; i < n; i++) {
			how.pid++;
			touch(prefix + std::to_string(i), how);
		}
	}

	Rule rule(AccessKind kind)
	{
		auto rules = infer_rules(model);
		for (auto &each : rules)
			if (each.kind == kind)
				return each;
		ADD_FAILURE() << "no rule for " << name(kind);
		return {};
	}

	std::string guard_of(AccessKind kind)
	{
		const Rule found = rule(kind);
		return found.guard() ? found.guard()->guard() : "";
	}

	Model model;
};

} // namespace lockscope::test
