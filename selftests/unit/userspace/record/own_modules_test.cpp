// SPDX-License-Identifier: GPL-2.0
// Modules that a recording is about: which they are, and their calls of lock primitives.
#include "support.h"

#include "decode/lock_sites.h"
#include "record/own_modules.h"

#include <algorithm>
#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;

TEST(LockSites, AreCallsOfPrimitivesThatAcquire)
{
	auto sites = lock_sites(LOCKS_OBJECT);
	ASSERT_TRUE(sites.ok());
	ASSERT_EQ(sites->size(), 3u);
	EXPECT_EQ((*sites)[0].function, "begin");
	EXPECT_EQ((*sites)[0].primitive, "mutex_lock");
	EXPECT_TRUE((*sites)[0].start);
	EXPECT_EQ((*sites)[1].function, "use");
	EXPECT_EQ((*sites)[1].primitive, "_raw_spin_lock");
	EXPECT_FALSE((*sites)[1].start);
	EXPECT_EQ((*sites)[2].primitive, "mutex_trylock");
	EXPECT_LT((*sites)[1].offset, (*sites)[2].offset);
	EXPECT_FALSE(is_instrumented(LOCKS_OBJECT));
}

TEST(LockSites, OfOtherFilesAreAnError)
{
	TempDir dir;
	spill(dir / "text.ko", "no module");
	EXPECT_FALSE(lock_sites(dir / "text.ko").ok());
	EXPECT_FALSE(lock_sites(dir / "absent.ko").ok());
	EXPECT_FALSE(is_instrumented(dir / "text.ko"));
}

TEST(OwnModules, AreThoseNamedElseThoseOfTheGuest)
{
	TempDir guest;
	spill(guest / "my-driver.ko", "");
	spill(guest / "lockscope.ko", "");
	const auto names = [&](const std::vector<std::string> &named) {
		std::vector<std::string> out;
		for (const auto &module : OwnModules(named, guest.path()).result())
			out.push_back(module.name);
		return out;
	};
	EXPECT_EQ(names({}), std::vector<std::string>{"my_driver"});
	EXPECT_EQ(names({"b-c", "x/a.ko", "b_c"}), (std::vector<std::string>{"a", "b_c"}));
	EXPECT_TRUE(OwnModules({}, guest / "absent").result().empty());
}

TEST(SiteCounter, WithoutTracefsNothingIsWatched)
{
	TempDir dir;
	SiteCounter counter(dir.path());
	counter.begin({{"mod", "f", 3}});
	EXPECT_FALSE(counter.watched(0));
	EXPECT_FALSE(counter.hit(0));
	counter.tick();
	counter.end();
}
