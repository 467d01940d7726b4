// SPDX-License-Identifier: GPL-2.0
// Names of functions that make an object or take it apart.
#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

TEST(Doubts, WholeWordsOfAName)
{
	for (const char *name :
	     {"alloc", "alloc_inode", "sk_alloc", "a_new_b", "foo_init.isra.0", "init.constprop.1"})
		EXPECT_TRUE(ls_name_makes(name)) << name;
	for (const char *name : {"", "allocate", "realloc_x", "renew", "foo_initial", "_", "a__b",
				 "foo.init", "free_all"})
		EXPECT_FALSE(ls_name_makes(name)) << name;
	for (const char *name :
	     {"free", "kfree_free", "inode_evict", "del_timer", "x_unlink.part.0"})
		EXPECT_TRUE(ls_name_unmakes(name)) << name;
	for (const char *name : {"kfree", "model", "freed", "foo_alloc", "freezer_x"})
		EXPECT_FALSE(ls_name_unmakes(name)) << name;
}

} // namespace
} // namespace lockscope::test
