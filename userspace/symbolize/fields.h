// SPDX-License-Identifier: GPL-2.0
// Locks in slab objects: from cache, size and offset to a struct's field.
#pragma once

#include "lockclass/abi.h"
#include "model/symbols.h"
#include "symbolize/module_types.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

struct btf;

namespace lockscope {

/// Finds the debug information of a loaded module; nullptr when there is none. What it returns
/// stays valid as long as the FieldNames that has it.
using DebugInformation = std::function<Dwarf *(const std::string &module)>;

/// Type information of the kernel and its modules.
class FieldNames {
public:
	/// Use BTF in @dir, like /sys/kernel/btf; read at the first look-up. Without it every
	/// look-up fails. @caches: like /sys/kernel/slab; a cache that is not in it counts as
	/// not merged.
	explicit FieldNames(std::string dir = "/sys/kernel/btf",
			    std::string caches = "/sys/kernel/slab");
	~FieldNames();
	FieldNames(const FieldNames &) = delete;

	/// For modules from outside of the kernel's tree that have no BTF, by their folders in
	/// @modules, which is like /sys/module: take the types from @find.
	void use_debug_information(DebugInformation find, std::string modules = "/sys/module");

	/// "struct ext4_inode_info.i_data_sem" when exactly one struct matches an object of
	/// @cache: it has a lock of @kind at @offset, and either the cache's own name, or the
	/// size and a word of that name. If several do, the one that shares most words; empty
	/// on a tie, or for none. A cache whose name begins with that of a struct
	/// ("request_queue_srcu") may have larger objects. For a merged cache the types of all
	/// caches that share it have to be known, and only one of them may have such a lock
	/// there.
	LockField find(const std::string &cache, std::uint32_t object_size, std::uint32_t offset,
		       ls_kind kind);

	/// "struct foo.lock" for a lock that @function of @module initialises, from the words of
	/// that call, "&foo->lock", when there is debug information about its variables. Empty
	/// unless they mean exactly one lock of that kind.
	std::string initialised(const std::string &words, const std::string &module,
				const std::string &function, ls_kind kind);

	/// The static lock called @name, "symbol", "module:symbol+0x8" or "percpu:symbol"; empty
	/// unless exactly one variable of that name has a type: BTF has those of per-CPU
	/// variables, and of others depending on the build; debug information has all.
	/// LockField::path: by debug information, for a variable that is a struct around it.
	LockField variable(const std::string &name, ls_kind kind);

	/// "struct ext4_inode_info" for a cache: the struct of its name, or the one of that
	/// size whose name shares most words with the cache's, at least one; empty when there
	/// is none, or a tie, and for a merged cache: its objects may be of any type that
	/// shares it.
	std::string type_of_cache(const std::string &cache, std::uint32_t object_size);
	/// A lock in an object.
	struct LockPlace {
		std::uint32_t offset;
		ls_kind kind;
		bool operator==(const LockPlace &) const = default;
	};
	/// "struct foo" for the allocations of @function, from its prototype: the target of
	/// the returned pointer, else of a pointer that it returns through an argument, else of
	/// one of its variables. An object of it has to be rounded up to @object_size by
	/// kmalloc(). Empty when there is none, or several.
	/// With @place, of those that have a lock there.
	std::string type_of_allocation(const std::string &function, std::uint32_t object_size,
				       const std::optional<LockPlace> &place = {});
	/// Does the cache share its memory with others, merged by the slab allocator? Loading
	/// a module may cause that.
	bool merged(const std::string &cache) const;
	/// Smallest and largest allocation, in bytes, for which kmalloc() returns an object of
	/// that size.
	static std::pair<std::uint32_t, std::uint32_t> allocated_sizes(std::uint32_t object_size);
	/// "struct foo" for objects of @least to @most bytes with locks at @places: the only
	/// type of @module and the kernel that has all of them. For a module's type one place
	/// is enough, for one of the kernel's three are needed: there are so many that one
	/// matches by chance. A module's struct that ends with an array may be longer. Empty
	/// when there is none, or several.
	std::string type_of_object(const std::string &module, std::uint32_t least,
				   std::uint32_t most, const std::vector<LockPlace> &places);
	/// Like find(), for a type returned by one of these. Of several of that name the one
	/// with such a lock; empty when they differ about its member.
	LockField field(const std::string &type, std::uint32_t offset, ls_kind kind);
	/// "struct rq" of a static per-CPU symbol; empty if it is no struct.
	std::string type_of_percpu(const std::string &symbol);
	/// Path to the innermost member at @offset of @type, or to the outermost lock of kind
	/// @lock there: "i_data_sem", "stats.rx", "slot[].next"; empty when there is none.
	/// @type was returned by one of the above.
	std::string path(const std::string &type, std::uint32_t offset, ls_kind lock);
	/// "struct journal_s.j_list_lock": the lock of that kind @offset bytes from the target
	/// of the pointer at @via of @type, if that points to a struct.
	std::string pointee(const std::string &type, std::uint32_t via, std::uint32_t offset,
			    ls_kind lock);

	/// Number of words of a cache's name that are also in a type's, or begin one:
	/// "ext4_inode_cache" and "ext4_inode_info" share two. Words like "cache" and "info"
	/// do not count.
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
		std::uint32_t type;	///< for functions, the prototype
		bool described = false; ///< by debug information
	};
	/// A variable or parameter of a function.
	struct Local {
		std::string name;
		Variable variable;
		std::size_t file; ///< in loaded_
	};
	void load();
	void load_debug_information();
	void add(ModuleTypes types);
	void add(Struct found);
	/// Is there such a struct in the kernel itself?
	bool is_of_kernel(const std::string &name, std::uint32_t size) const;
	/// Structs called @type, "struct foo", in the order in which they were loaded.
	std::vector<std::size_t> called(const std::string &type) const;
	const Struct *named(const std::string &type) const;
	/// Structs that may be what @cache has: of its size, of a name that says so.
	std::vector<std::size_t> candidates(const std::string &cache,
					    std::uint32_t object_size) const;
	std::string best_type(const std::string &cache, std::uint32_t object_size);
	std::string unit_of(const std::string &variable) const;
	LockField best_field(const std::string &cache, std::uint32_t object_size,
			     std::uint32_t offset, ls_kind kind);
	std::vector<std::string> sharers(const std::string &cache) const;

	std::string dir_, caches_;
	DebugInformation debug_information_;
	std::string modules_;
	std::set<std::string> inspected_; ///< folders there
	std::vector<std::string> loaded_; ///< files in dir_, and modules with debug information
	std::vector<btf *> owned_;	  ///< [0] is the kernel's, on which all others are based
	std::vector<Struct> structs_;
	std::unordered_map<std::string, std::vector<std::size_t>> by_name_; ///< in structs_
	std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_size_;
	/// The kernel has tens of thousands.
	std::unordered_multimap<std::string, Variable> variables_, functions_;
	std::multimap<std::string, Local> locals_; ///< by function
	/// Files that have a static variable of that name, by module and name, as they are linked.
	std::map<std::string, std::vector<std::string>> units_;
};

} // namespace lockscope
