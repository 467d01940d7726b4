// SPDX-License-Identifier: GPL-2.0
// What lies where in a type, by BTF: locks, members, pointers. Begin with a nesting of 0.
#pragma once

#include "lockclass/abi.h"
#include "model/symbols.h"

#include <cstdint>
#include <optional>
#include <string>

struct btf;
struct btf_type;

namespace lockscope {

/// Empty for what has no name.
std::string type_name(const btf *types, const btf_type *type);

/// Name in the source of a function with that symbol: clones and parts have a suffix.
std::string source_name(const std::string &symbol);

/// The type behind qualifiers and typedefs, and the last typedef's name.
const btf_type *resolve(const btf *types, std::uint32_t id, std::string *alias);

/// The outermost lock of @kind @offset bytes into an object of type @id. Its path begins with
/// a dot or brackets, and is empty if the object itself is the lock.
std::optional<LockField> find_lock(const btf *types, std::uint32_t id, std::uint32_t offset,
				   ls_kind kind, int nesting);

/// Path to the innermost member at @offset within the struct or union.
std::string member_path(const btf *types, const btf_type *type, std::uint32_t offset, int nesting);

/// Target type of a pointer; nullptr for other types.
const btf_type *pointed_to(const btf *types, std::uint32_t id);

/// Type in @types that the pointer at @offset of an object of type @id points to; 0: none.
std::uint32_t pointer_at(const btf *types, std::uint32_t id, std::uint32_t offset, int nesting);

/// Can an object of a struct have @bytes? It may end with an array of any number of elements.
bool may_have(const btf *types, const btf_type *type, std::uint32_t bytes);

} // namespace lockscope
