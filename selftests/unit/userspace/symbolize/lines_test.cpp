// SPDX-License-Identifier: GPL-2.0
// Lines and variables, by debug information.
#include "support.h"

#include "symbolize/lines.h"
#include "symbolize/types.h"
#include "symbolize/types_unit.h"

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

TEST(Types, OfVariablesFromDebugInformation)
{
	const int fd = ::open(TYPES_LIBRARY, O_RDONLY);
	ASSERT_GE(fd, 0);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	ASSERT_NE(dwarf, nullptr);
	{
		const VariableTypes types(dwarf);
		EXPECT_EQ(types.type("sample"), "struct sample");
		EXPECT_EQ(types.type("number"), "int");
		EXPECT_EQ(types.type("local.0"), "struct inner");
		EXPECT_EQ(types.type("no_such_variable"), "");
		EXPECT_EQ(types.path("number", 0, LS_KIND_NONE), "");
		EXPECT_EQ(types.path("sample", 2, LS_KIND_NONE), "head[]");
		const std::uint64_t slot = offsetof(struct sample, slots) + sizeof(struct inner);
		EXPECT_EQ(types.path("sample", slot, LS_KIND_NONE), "slots[].first");
		EXPECT_EQ(types.path("sample", slot + offsetof(struct inner, whole), LS_KIND_NONE),
			  "slots[].whole");
		EXPECT_EQ(types.path("sample", slot + offsetof(struct inner, whole) + 4,
				     LS_KIND_NONE),
			  "slots[].whole");
		EXPECT_EQ(types.path("sample", offsetof(struct sample, at), LS_KIND_NONE), "at");
		EXPECT_EQ(types.path("sample", sizeof(struct sample), LS_KIND_NONE), "");
		EXPECT_EQ(types.path("sample",
				     offsetof(struct sample, slots) + sizeof(struct inner) * 3,
				     LS_KIND_NONE),
			  "flag");
	}
	dwarf_end(dwarf);
	::close(fd);
	EXPECT_EQ(VariableTypes(nullptr).type("sample"), "");
}
