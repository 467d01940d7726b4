// SPDX-License-Identifier: GPL-2.0
// A race on purpose, for cli/threads: it is not run unless asked for.
#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {

TEST(Race, DISABLED_OneContextOfTwoThreads)
{
	ls_ctx ctx{};

	together(2, [&](unsigned) { ls_held_distrust(&ctx); });
}

} // namespace lockscope::test
