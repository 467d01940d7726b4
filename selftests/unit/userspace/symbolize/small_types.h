// SPDX-License-Identifier: GPL-2.0
// A small kernel's BTF.
#pragma once

#include "support.h"

#include "symbolize/fields.h"

#include <bpf/btf.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lockscope::test {

/* A small kernel's types: locks, a struct with both sorts, per-CPU variables. */
class SmallTypes : public testing::Test {
protected:
	SmallTypes()
	{
		btf *types = btf__new_empty();
		const int word = btf__add_int(types, "unsigned int", 4, 0);
		const int raw = btf__add_struct(types, "raw_spinlock", 4);
		btf__add_field(types, "raw_lock", word, 0, 0);
		const int raw_t = btf__add_typedef(types, "raw_spinlock_t", raw);
		const int inner = btf__add_union(types, "", 4);
		btf__add_field(types, "rlock", raw, 0, 0);
		const int spin = btf__add_struct(types, "spinlock", 4);
		btf__add_field(types, "", inner, 0, 0);
		const int spin_t = btf__add_typedef(types, "spinlock_t", spin);
		const int two = btf__add_array(types, word, spin_t, 2);
		const int queue = btf__add_struct(types, "wait_queue_head", 8);
		btf__add_field(types, "lock", spin_t, 0, 0);
		const int both = btf__add_struct(types, "both", 32);
		btf__add_field(types, "raw", raw_t, 0, 0);
		btf__add_field(types, "spin", spin_t, 32, 0);
		btf__add_field(types, "many", two, 64, 0);
		btf__add_field(types, "queue", queue, 128, 0);
		const int to_both = btf__add_ptr(types, btf__add_const(types, both));
		const int forward = btf__add_fwd(types, "both", BTF_FWD_STRUCT);
		const int to_forward = btf__add_ptr(types, forward);
		const int to_void = btf__add_ptr(types, 0);
		const int to_link = btf__add_ptr(types, static_cast<int>(btf__type_cnt(types)) + 1);
		const int link = btf__add_struct(types, "link", 16);
		btf__add_field(types, "next", to_link, 0, 0);
		btf__add_field(types, "place", to_void, 64, 0);
		const int owned = btf__add_struct(types, "owned", 40);
		btf__add_field(types, "link", link, 0, 0);
		btf__add_field(types, "count", word, 128, 0);
		btf__add_field(types, "owner", to_both, 192, 0);
		btf__add_field(types, "later", to_forward, 256, 0);
		const int to_owned = btf__add_ptr(types, owned);
		const int to_place = btf__add_ptr(types, to_owned);
		function(types, "both_create", to_both, {word});
		function(types, "owned_new", word, {to_place});
		function(types, "owned_use", word, {to_owned});
		function(types, "both_static", to_both, {});
		function(types, "both_static", to_link, {});
		btf__add_var(types, "runqueues", BTF_VAR_GLOBAL_ALLOCATED, both);
		btf__add_var(types, "one_raw", BTF_VAR_STATIC, raw_t);
		btf__add_var(types, "twice", BTF_VAR_STATIC, raw_t);
		btf__add_var(types, "twice", BTF_VAR_STATIC, spin_t);
		std::uint32_t size = 0;
		const void *data = btf__raw_data(types, &size);
		spill(dir / "vmlinux", std::string(static_cast<const char *>(data), size));
		btf__free(types);
	}

	/* A module's types, which build on the kernel's. */
	void add_module(const char *module)
	{
		btf *base = btf__parse((dir / "vmlinux").c_str(), nullptr);
		btf *types = btf__new_empty_split(base);
		const auto find = [&](const char *type, __u32 kind) {
			return btf__find_by_name_kind(base, type, kind);
		};
		const int spin_t = find("spinlock_t", BTF_KIND_TYPEDEF);
		const int raw_t = find("raw_spinlock_t", BTF_KIND_TYPEDEF);
		const int word = find("unsigned int", BTF_KIND_INT);
		const int unit = btf__add_struct(types, "unit", 400);
		btf__add_field(types, "busy", spin_t, 64 * 8, 0);
		btf__add_field(types, "list", raw_t, 72 * 8, 0);
		btf__add_struct(types, "plain", 400);
		btf__add_field(types, "count", word, 64 * 8, 0);
		const int slot = btf__add_struct(types, "slot", 24);
		btf__add_field(types, "lock", spin_t, 0, 0);
		const int slots = btf__add_array(types, word, slot, 1);
		btf__add_struct(types, "head", 104);
		btf__add_field(types, "gate", spin_t, 8 * 8, 0);
		btf__add_field(types, "slots", slots, 80 * 8, 0);
		btf__add_struct(types, "request_line", 200);
		btf__add_field(types, "lock", spin_t, 16 * 8, 0);
		function(types, "unit_probe", word, {btf__add_ptr(types, unit)});
		std::uint32_t size = 0;
		const void *data = btf__raw_data(types, &size);
		spill(dir / module, std::string(static_cast<const char *>(data), size));
		btf__free(types);
		btf__free(base);
	}

	static void function(btf *types, const char *name, int returned, std::vector<int> taken)
	{
		const int prototype = btf__add_func_proto(types, returned);
		for (int each : taken)
			btf__add_func_param(types, "", each);
		btf__add_func(types, name, BTF_FUNC_STATIC, prototype);
	}

	/* Caches merged by the slab allocator, as sysfs has them. */
	void merge(const std::vector<std::string> &shared)
	{
		std::filesystem::create_directories(caches / ":0000032");
		spill(caches / ":0000032/aliases", std::to_string(shared.size() - 1) + "\n");
		for (const auto &cache : shared)
			std::filesystem::create_directory_symlink(":0000032", caches / cache);
	}

	TempDir dir, caches;
	FieldNames names{dir.path(), caches.path()};
};

} // namespace lockscope::test
