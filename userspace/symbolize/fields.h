// SPDX-License-Identifier: GPL-2.0
// Locks inside slab objects: from cache, size and offset to a struct's field.
#pragma once

#include "lockclass/abi.h"
#include "model/symbols.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct btf;

namespace lockscope {

/// Type information of the kernel and its modules.
class FieldNames {
public:
	/// Use what is in @dir, as /sys/kernel/btf; nothing is read before the
	/// first look-up. Without it every look-up fails. @caches: as /sys/kernel/slab;
	/// what is not in there shares its memory with no other cache.
	explicit FieldNames(std::string dir = "/sys/kernel/btf",
			    std::string caches = "/sys/kernel/slab");
	~FieldNames();
	FieldNames(const FieldNames &) = delete;

	/// "struct ext4_inode_info.i_data_sem" when exactly one struct fits an
	/// object of @cache: it has a lock of @kind at @offset, and either the
	/// cache's own name, or the size and a word of that name. When several do,
	/// the one that shares most words; empty on a tie, or for none. A cache called
	/// after a struct with more behind it ("request_queue_srcu") may have more in it.
	/// In a merged cache the types of all that share it have to be known, and one
	/// of them alone has such a lock there.
	LockField find(const std::string &cache, std::uint32_t object_size, std::uint32_t offset,
			       ls_kind kind);

	/// LockField::type of the lock called @name as static locks are, "symbol",
	/// "module:symbol+0x8" or "percpu:symbol"; empty unless exactly one variable of
	/// that name has a type: those of per-CPU variables, and of others where
	/// whoever made the BTF kept them.
	std::string variable(const std::string &name, ls_kind kind);

	/// "struct ext4_inode_info" for a cache: the struct of its name, or the one
	/// of that size whose name shares most words with the cache's, one at least;
	/// empty when none does, or several, and for a merged cache: an object of that
	/// may be any of the types that share it.
	std::string type_of_cache(const std::string &cache, std::uint32_t object_size);
	/// "struct foo" for what @function allocates, by the types it has to do with: the
	/// one that it returns a pointer to, else the one for which it is given the place
	/// of a pointer. An object of it has to be what kmalloc() rounds up to @object_size.
	/// Empty when there is none, or several.
	std::string type_of_allocation(const std::string &function, std::uint32_t object_size);
	/// Does the cache share its memory with others, merged by the slab allocator? A module
	/// that comes may make it so.
	bool merged(const std::string &cache) const;
	/// A lock in an object.
	struct LockPlace {
		std::uint32_t offset;
		ls_kind kind;
		bool operator==(const LockPlace &) const = default;
	};
	/// Bytes, least and most, for which kmalloc() gives an object of that size.
	static std::pair<std::uint32_t, std::uint32_t> allocated_sizes(std::uint32_t object_size);
	/// "struct foo" for objects of @least to @most bytes that have locks at @places: the
	/// only one of the types of @module and of the kernel that has all of them. For a
	/// type of the module's own one place will do, for one of the kernel's three
	/// are needed: it has so many that one fits by chance. A module's struct that ends with
	/// an array may be longer than it says. Empty when there is none, or several.
	std::string type_of_object(const std::string &module, std::uint32_t least,
				   std::uint32_t most, const std::vector<LockPlace> &places);
	/// As find(), of a type that is known, as one of these gave it.
	LockField field(const std::string &type, std::uint32_t offset, ls_kind kind);
	/// "struct rq" of a static per-CPU symbol; empty for what is no struct.
	std::string type_of_percpu(const std::string &symbol);
	/// Path to the innermost member at @offset of @type, or to the outermost lock
	/// of @lock there: "i_data_sem", "stats.rx", "slot[].next"; empty when there
	/// is none. @type is what one of the above gave.
	std::string path(const std::string &type, std::uint32_t offset, ls_kind lock);
	/// "struct journal_s.j_list_lock": the lock of that kind @offset bytes from where
	/// the pointer at @via of @type leads to, when that is a pointer to a struct.
	std::string pointee(const std::string &type, std::uint32_t via, std::uint32_t offset,
			    ls_kind lock);

	/// Words of a cache's name found in a type's, or beginnings of such:
	/// "ext4_inode_cache" and "ext4_inode_info" share two. Words like "cache"
	/// and "info" do not count.
	static int similarity(const std::string &cache, const std::string &type);

private:
	struct Struct {
		const btf *types;
		std::uint32_t id, size;
		std::string name;
		std::size_t file; ///< in loaded_
	};
	struct Variable {
		const btf *types;
		std::uint32_t type; ///< of functions, their prototype
	};
	void load();
	const Struct *named(const std::string &type) const;
	std::string best_type(const std::string &cache, std::uint32_t object_size);
	LockField best_field(const std::string &cache, std::uint32_t object_size,
			     std::uint32_t offset, ls_kind kind);
	std::vector<std::string> sharers(const std::string &cache) const;

	std::string dir_, caches_;
	std::vector<std::string> loaded_; ///< files in dir_
	std::vector<btf *> owned_;	  ///< [0] is the kernel's, which all others build on
	std::vector<Struct> structs_;
	std::multimap<std::string, Variable> variables_, functions_;
};

} // namespace lockscope
