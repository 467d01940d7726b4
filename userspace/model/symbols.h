// SPDX-License-Identifier: GPL-2.0
// Results of symbol tables and type information for code and locks: from symbolize/, stored by
// store/.
#pragma once

#include <cstdint>
#include <string>

namespace lockscope {

/// A resolved code address.
struct Location {
	std::string function;
	std::uint64_t offset = 0;
	std::string module, build_id;
};

/// What the types of the memory around a lock show.
struct LockField {
	std::string path; ///< "struct ext4_inode_info.i_data_sem", empty: unknown
	std::string type; ///< "raw_spinlock_t" or "spinlock_t" for spinlocks, else empty
};

} // namespace lockscope
