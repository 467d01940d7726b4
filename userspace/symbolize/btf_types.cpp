// SPDX-License-Identifier: GPL-2.0
#include "symbolize/btf_types.h"

#include <bpf/btf.h>

namespace lockscope {

namespace {

/// A lock type, and the member at the address that hooks see.
struct LockType {
	ls_kind kind;
	const char *name;   ///< of the struct, or of the typedef of a nameless one
	const char *member; ///< address is that of this member; nullptr: of the lock
	const char *spin;   ///< LockField::type
};

/*
 * Semaphores, rt_mutexes and socket locks begin with a spinlock, so the module
 * knows them by the address of a later member.
 */
constexpr LockType kLockTypes[] = {
	{LS_KIND_SPINLOCK, "spinlock", nullptr, "spinlock_t"},
	{LS_KIND_SPINLOCK, "raw_spinlock", nullptr, "raw_spinlock_t"},
	{LS_KIND_SPINLOCK, "wait_queue_head", nullptr, "spinlock_t"},
	{LS_KIND_RWLOCK, "rwlock_t", nullptr, ""},
	{LS_KIND_RWLOCK, "rwlock", nullptr, ""},
	{LS_KIND_MUTEX, "mutex", nullptr, ""},
	{LS_KIND_RWSEM, "rw_semaphore", nullptr, ""},
	{LS_KIND_WW_MUTEX, "ww_mutex", nullptr, ""},
	{LS_KIND_SEMAPHORE, "semaphore", "count", ""},
	{LS_KIND_RT_MUTEX, "rt_mutex", "rtmutex", ""},
	{LS_KIND_SOCKET, "socket_lock_t", "owned", ""},
	{LS_KIND_PERCPU_RWSEM, "percpu_rw_semaphore", nullptr, ""},
	{LS_KIND_WAITQUEUE, "wait_queue_head", "head", ""},
};

/* Nesting of structs; real ones are far below. */
constexpr int kMaxNesting = 12;
constexpr std::uint32_t kRtMutexWaiters = 8;

std::optional<std::uint32_t> member_offset(const btf *types, const btf_type *type, const char *name)
{
	for (int i = 0; i < btf_vlen(type); i++)
		if (const char *member = btf__name_by_offset(types, btf_members(type)[i].name_off);
		    member && std::string(member) == name)
			return btf_member_bit_offset(type, static_cast<__u32>(i)) / 8;
	return std::nullopt;
}

/// The lock type of @kind that @type is, if hooks see it at @offset bytes into it.
const LockType *lock_type(const btf *types, const btf_type *type, const std::string &alias,
			  ls_kind kind, std::uint32_t offset)
{
	const std::string name = type_name(types, type);
	for (const auto &lock : kLockTypes) {
		if (lock.kind != kind || (name != lock.name && alias != lock.name))
			continue;
		std::uint32_t expected = 0;
		if (kind == LS_KIND_RT_MUTEX)
			expected = kRtMutexWaiters;
		else if (lock.member)
			expected = member_offset(types, type, lock.member).value_or(0);
		if (offset == expected)
			return &lock;
	}
	return nullptr;
}

} // namespace

std::string type_name(const btf *types, const btf_type *type)
{
	const char *name = btf__name_by_offset(types, type->name_off);
	return name ? name : "";
}

std::string source_name(const std::string &symbol)
{
	return symbol.substr(0, symbol.find('.'));
}

const btf_type *resolve(const btf *types, std::uint32_t id, std::string *alias)
{
	for (int i = 0; i < 32; i++) {
		const btf_type *type = btf__type_by_id(types, id);
		if (!type)
			return nullptr;
		if (btf_is_typedef(type)) {
			if (alias)
				*alias = type_name(types, type);
		} else if (!btf_is_mod(type)) {
			return type;
		}
		id = type->type;
	}
	return nullptr;
}

std::optional<LockField> find_lock(const btf *types, std::uint32_t id, std::uint32_t offset,
				   ls_kind kind, int nesting)
{
	std::string alias, brackets;
	const btf_type *type = resolve(types, id, &alias);
	/* An unspecified element of an array. */
	while (type && btf_is_array(type)) {
		const auto *array = btf_array(type);
		const __s64 size = btf__resolve_size(types, array->type);
		if (size <= 0 || array->nelems == 0 || offset / size >= array->nelems)
			return std::nullopt;
		offset %= static_cast<std::uint32_t>(size);
		brackets += "[]";
		type = resolve(types, array->type, &alias);
	}
	if (!type || !btf_is_composite(type) || offset >= type->size || nesting == kMaxNesting)
		return std::nullopt;
	if (const auto *lock = lock_type(types, type, alias, kind, offset))
		return LockField{brackets, lock->spin};
	for (int i = 0; i < btf_vlen(type); i++) {
		const auto index = static_cast<__u32>(i);
		const btf_member &member = btf_members(type)[i];
		const std::uint32_t begin = btf_member_bit_offset(type, index) / 8;
		if (btf_member_bitfield_size(type, index) != 0 || offset < begin)
			continue;
		auto found = find_lock(types, member.type, offset - begin, kind, nesting + 1);
		if (!found)
			continue;
		const std::string name = btf__name_by_offset(types, member.name_off);
		return LockField{brackets + (name.empty() ? "" : "." + name) + found->path,
				 found->type};
	}
	return std::nullopt;
}

std::string member_path(const btf *types, const btf_type *type, std::uint32_t offset, int nesting)
{
	if (nesting == kMaxNesting)
		return {};
	for (int i = 0; i < btf_vlen(type); i++) {
		const auto index = static_cast<__u32>(i);
		const btf_member &member = btf_members(type)[i];
		const std::uint32_t begin = btf_member_bit_offset(type, index) / 8;
		const __s64 bits = btf_member_bitfield_size(type, index);
		const __s64 size = bits ? (btf_member_bit_offset(type, index) % 8 + bits + 7) / 8
					: btf__resolve_size(types, member.type);
		if (size <= 0 || offset < begin || offset >= begin + size)
			continue;
		std::uint32_t inside = offset - begin;
		std::string name = btf__name_by_offset(types, member.name_off);
		const btf_type *inner = bits ? nullptr : resolve(types, member.type, nullptr);
		while (inner && btf_is_array(inner)) {
			const auto *array = btf_array(inner);
			const __s64 element = btf__resolve_size(types, array->type);
			name += "[]";
			inner = element > 0 ? resolve(types, array->type, nullptr) : nullptr;
			if (inner)
				inside %= static_cast<std::uint32_t>(element);
		}
		if (inner && btf_is_composite(inner))
			if (auto rest = member_path(types, inner, inside, nesting + 1);
			    !rest.empty())
				return name.empty() ? rest : name + "." + rest;
		/* A gap in an unnamed struct: another member of a union may cover it. */
		if (!name.empty())
			return name;
	}
	return {};
}

const btf_type *pointed_to(const btf *types, std::uint32_t id)
{
	const btf_type *type = resolve(types, id, nullptr);
	return type && btf_is_ptr(type) ? resolve(types, type->type, nullptr) : nullptr;
}

std::uint32_t pointer_at(const btf *types, std::uint32_t id, std::uint32_t offset, int nesting)
{
	const btf_type *type = resolve(types, id, nullptr);
	while (type && btf_is_array(type)) {
		const auto *array = btf_array(type);
		const __s64 size = btf__resolve_size(types, array->type);
		if (size <= 0 || array->nelems == 0)
			return 0;
		offset %= static_cast<std::uint32_t>(size);
		type = resolve(types, array->type, nullptr);
	}
	if (type && btf_is_ptr(type))
		return offset ? 0 : type->type;
	if (!type || !btf_is_composite(type) || nesting == kMaxNesting)
		return 0;
	for (int i = 0; i < btf_vlen(type); i++) {
		const auto index = static_cast<__u32>(i);
		const btf_member &member = btf_members(type)[i];
		const std::uint32_t begin = btf_member_bit_offset(type, index) / 8;
		const __s64 size = btf__resolve_size(types, member.type);
		if (size <= 0 || offset < begin || offset >= begin + size ||
		    btf_member_bitfield_size(type, index))
			continue;
		if (const auto found = pointer_at(types, member.type, offset - begin, nesting + 1))
			return found;
	}
	return 0;
}

bool may_have(const btf *types, const btf_type *type, std::uint32_t bytes)
{
	if (type->size >= bytes || btf_vlen(type) == 0)
		return type->size == bytes;
	const btf_member &last = btf_members(type)[btf_vlen(type) - 1];
	const btf_type *array = resolve(types, last.type, nullptr);
	if (!array || !btf_is_array(array) || btf_array(array)->nelems > 1)
		return false;
	const __s64 element = btf__resolve_size(types, btf_array(array)->type);
	return element > 0 && (bytes - type->size) % element == 0;
}

} // namespace lockscope
