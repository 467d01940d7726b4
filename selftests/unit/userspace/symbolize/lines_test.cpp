// SPDX-License-Identifier: GPL-2.0
// Lines and variables, by debug information.
#include "support.h"

#include "symbolize/lines.h"
#include "symbolize/types.h"

#include <fcntl.h>

#include <cstddef>
#include <filesystem>
#include <set>

using namespace lockscope;
using namespace lockscope::test;

TEST(Lines, PathsAsDevelopersKnowThem)
{
	EXPECT_EQ(source_path("./fs/ext4/inode.c", "/build/linux"), "fs/ext4/inode.c");
	EXPECT_EQ(source_path("/build/linux/fs/inode.c", "/build/linux"), "fs/inode.c");
	EXPECT_EQ(source_path("/elsewhere/driver/main.c", "/build/linux"), "driver/main.c");
	EXPECT_EQ(source_path("/elsewhere/driver/main.c", ""), "driver/main.c");
}

TEST(Lines, NothingIsFoundWhereNothingIs)
{
	TempDir dir;
	LineFinder finder("0.0.0", {dir.path(), dir / "missing"});
	EXPECT_TRUE(finder.find("mod", "aabb", "f", 10).empty());
	spill(dir / "mod.ko", "not ELF");
	LineFinder again("0.0.0", {dir.path()});
	EXPECT_TRUE(again.find("mod", "aabb", "f", 10).empty());
	EXPECT_TRUE(again.find("mod", "", "f", 10).empty());
}

/* Static functions of one name, in lines.ko: one of a header, and one of each unit. */
TEST(Lines, FunctionsOfOneNameAreToldApartByTheirCalls)
{
	TempDir dir;
	std::filesystem::copy(LINES_MODULE, dir / "lines.ko");
	LineFinder finder("0.0.0", {dir.path()});
	const std::string build_id = LINES_BUILD_ID;
	auto lines = [&](const std::string &function) {
		std::multiset<std::uint32_t> out;
		for (std::uint64_t offset = 1; offset < 96; offset++)
			for (const auto &place : finder.find("lines", build_id, function, offset)) {
				EXPECT_EQ(place.function, function);
				out.insert(place.line);
			}
		return out;
	};
	EXPECT_TRUE(lines("lines_of_header").count(100));
	const auto of_unit = lines("lines_of_unit");
	EXPECT_TRUE(of_unit.count(200));
	EXPECT_TRUE(of_unit.count(300));
	EXPECT_LT(of_unit.size(), 95u) << "where neither calls there is no telling";
}

namespace {

/* What VariableTypes has to find in this very program. */
struct Inner {
	int first;
	union {
		long whole;
		struct {
			int low, high;
		};
	};
};
struct Sample {
	char head[4];
	Inner slots[3];
	unsigned int flag : 3, mode : 7;
	const volatile int *at;
};
Sample g_sample;
int g_number;

} // namespace

TEST(Types, OfVariablesFromDebugInformation)
{
	[[maybe_unused]] static volatile Inner s_local;
	g_sample.flag = 1;
	s_local.first = g_number = 1;
	const int fd = ::open("/proc/self/exe", O_RDONLY);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	ASSERT_NE(dwarf, nullptr);
	{
		const VariableTypes types(dwarf);
		if (types.type("g_sample").empty()) {
			dwarf_end(dwarf);
			::close(fd);
			GTEST_SKIP() << "built without types in its debug information";
		}
		EXPECT_EQ(types.type("g_sample"), "struct Sample");
		EXPECT_EQ(types.type("g_number"), "int");
		EXPECT_EQ(types.type("s_local.0"), "struct Inner");
		EXPECT_EQ(types.type("no_such_variable"), "");
		EXPECT_EQ(types.path("g_number", 0, LS_KIND_NONE), "");
		EXPECT_EQ(types.path("g_sample", 2, LS_KIND_NONE), "head[]");
		const std::uint64_t slot = offsetof(Sample, slots) + sizeof(Inner);
		EXPECT_EQ(types.path("g_sample", slot, LS_KIND_NONE), "slots[].first");
		EXPECT_EQ(types.path("g_sample", slot + offsetof(Inner, whole), LS_KIND_NONE),
			  "slots[].whole");
		EXPECT_EQ(types.path("g_sample", slot + offsetof(Inner, whole) + 4, LS_KIND_NONE),
			  "slots[].whole");
		EXPECT_EQ(types.path("g_sample", offsetof(Sample, at), LS_KIND_NONE), "at");
		EXPECT_EQ(types.path("g_sample", sizeof(Sample), LS_KIND_NONE), "");
		EXPECT_EQ(types.path("g_sample", offsetof(Sample, slots) + sizeof(Inner) * 3,
				     LS_KIND_NONE),
			  "flag");
	}
	dwarf_end(dwarf);
	::close(fd);
	EXPECT_EQ(VariableTypes(nullptr).type("g_sample"), "");
}
