// SPDX-License-Identifier: GPL-2.0
// Lines and variables, by debug information.
#include "support.h"

#include "symbolize/debug_files.h"
#include "symbolize/lines.h"
#include "symbolize/types.h"
#include "symbolize/types_unit.h"

#include <fcntl.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/// A variable of the environment, set as long as this lives.
class EnvironmentValue {
public:
	EnvironmentValue(const char *name, const std::string &value) : name_(name)
	{
		if (const char *before = std::getenv(name))
			before_ = before;
		::setenv(name, value.c_str(), 1);
	}
	~EnvironmentValue()
	{
		if (before_)
			::setenv(name_, before_->c_str(), 1);
		else
			::unsetenv(name_);
	}
	EnvironmentValue(const EnvironmentValue &) = delete;

private:
	const char *name_;
	std::optional<std::string> before_;
};

} // namespace

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

TEST(Lines, FetchedFilesAreFoundByBuildIdAlone)
{
	TempDir dir;
	const std::string build_id = LINES_BUILD_ID;
	const EnvironmentValue cache("XDG_CACHE_HOME", dir.path());
	const std::string path = fetched_file(build_id);
	EXPECT_EQ(path, dir / "lockscope/symbols/.build-id/00/" + build_id.substr(2) + ".debug");
	LineFinder before("0.0.0", {});
	EXPECT_EQ(before.file("any", build_id), "");
	std::filesystem::create_directories(std::filesystem::path(path).parent_path());
	std::filesystem::copy(LINES_MODULE, path);
	LineFinder finder("0.0.0", {});
	EXPECT_EQ(finder.file("any", build_id), path);
	EXPECT_FALSE(finder.find("any", build_id, "lines_of_header", 1).empty());
	/* What lies at a place has to have the build id of that place. */
	const std::string other = "ff" + build_id.substr(2);
	std::filesystem::create_directories(
		std::filesystem::path(fetched_file(other)).parent_path());
	std::filesystem::copy(LINES_MODULE, fetched_file(other));
	EXPECT_EQ(finder.file("any", other), "");
	EXPECT_TRUE(finder.find("any", other, "lines_of_header", 1).empty());
}

TEST(DebugFiles, BuildIdsOfStoresAreNoPaths)
{
	const EnvironmentValue cache("XDG_CACHE_HOME", "/cache");
	for (const char *id : {"", "a", "ab", "../../x", "ab/../x", "AB12", "ab12 "})
		EXPECT_EQ(fetched_file(id), "") << id;
	EXPECT_EQ(packaged_modules("../../x"), std::vector<std::string>{});
}

TEST(DebugFiles, PackagesOfDistributions)
{
	for (const char *release :
	     {"6.1.0-56-amd64", "6.1.0-56-rt-amd64", "6.12.95+deb12-cloud-amd64",
	      "7.3.4+deb13-amd64", "6.0.0-0.deb11.6-amd64", "6.12.57+deb13-arm64"})
		EXPECT_EQ(debug_packages(release),
			  std::vector<std::string>{"linux-image-" + std::string(release) + "-dbg"});
	EXPECT_EQ(debug_packages("5.15.0-91-generic"),
		  (std::vector<std::string>{"linux-image-unsigned-5.15.0-91-generic-dbgsym",
					    "linux-image-5.15.0-91-generic-dbgsym"}));
	for (const char *release : {"", "6.1.0", "6.1.0-test-amd64", "6.18.44-fc-v669",
				    "trace run.std", "6.1.0-56-amd64; rm", "6.9.0-rc1+"})
		EXPECT_TRUE(debug_packages(release).empty()) << release;
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
