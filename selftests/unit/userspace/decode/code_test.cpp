// SPDX-License-Identifier: GPL-2.0
// Where code comes from, and which functions a pattern means.
#include "support.h"

#include "decode/sites.h"

#include <bpf/btf.h>
#include <elf.h>

#include <algorithm>
#include <cstring>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr std::uint64_t kText = 0xffffffff81000000, kModule = 0xffffffffc0100000;

// Not copied for its callers, so that the symbol has the code that runs. clang's
// -fsanitize=function puts data in front of it.
#ifdef __clang__
#define AS_WRITTEN noinline, no_sanitize("function")
#else
#define AS_WRITTEN noinline, noipa
#endif
extern "C" __attribute__((AS_WRITTEN)) int ls_code_test_sum(const int *a, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i];
	return sum;
}

/// A /proc of two functions of the kernel and one module, whose code is @text.
class ProcTest : public testing::Test {
protected:
	ProcTest()
	{
		spill(dir / "kallsyms", "0000000000000000 A per_cpu_start\n"
					"ffffffff81000000 T _stext\n"
					"ffffffff81000000 T first\n"
					"ffffffff81000010 t second\n"
					"ffffffff81000010 t second_alias\n"
					"ffffffff81000018 t second.cold\n"
					"ffffffff81000020 T _etext\n"
					"ffffffff81000030 D data\n"
					"ffffffff81f00000 T boot_only\n"
					"ffffffffc0100010 t mod_put\t[mod]\n"
					"ffffffffc0100000 t mod_get\t[mod]\n"
					"not a line\n"
					/* ftrace remembers what was there before. */
					"ffffffffc0100014 T other_init\t[other]\n");
		spill(dir / "modules", "mod 4096 0 - Live 0xffffffffc0100000 (OE)\n"
				       "other 10 0 - Live 0xffffffffc0300000\n");
		write_kcore(0x20, 0x1000);
	}

	void write_kcore(std::uint64_t text_size, std::uint64_t module_size)
	{
		std::vector<std::uint8_t> text(0x20, 0x90), module(0x1000, 0);
		const std::uint8_t load[] = {0x8b, 0x47, 0x04, 0xc3};
		std::memcpy(text.data() + 0x10, load, sizeof(load));
		std::memcpy(module.data() + 0x10, load, sizeof(load));
		Elf64_Ehdr header{};
		std::memcpy(header.e_ident, ELFMAG, SELFMAG);
		header.e_phoff = sizeof(header);
		header.e_phentsize = sizeof(Elf64_Phdr);
		header.e_phnum = 2;
		Elf64_Phdr segments[2] = {};
		const std::uint64_t data = sizeof(header) + sizeof(segments);
		segments[0] = {PT_LOAD, 0, data, kText, 0, text_size, text_size, 0};
		segments[1] = {PT_LOAD, 0,	     data + text.size(), kModule,
			       0,	module_size, module_size,	 0};
		std::string all(reinterpret_cast<const char *>(&header), sizeof(header));
		all.append(reinterpret_cast<const char *>(segments), sizeof(segments));
		all.append(text.begin(), text.end());
		all.append(module.begin(), module.end());
		spill(dir / "kcore", all);
	}

	TempDir dir;
};

class FakeCode : public CodeSource {
public:
	explicit FakeCode(std::vector<std::pair<std::string, std::string>> names)
	{
		std::uint64_t address = 0x1000;
		for (auto &[module, name] : names)
			functions_.push_back({name, module, address += 16, 16, 0});
	}
	Result<std::vector<std::uint8_t>> read(const Function &function) const override
	{
		if (function.name == "gone")
			return Error{0, "gone", "", Exit::Environment};
		return std::vector<std::uint8_t>{0x8b, 0x07, 0x48, 0xa5, 0xc3};
	}
};

std::vector<std::string> names_of(const Result<std::vector<Function>> &functions)
{
	std::vector<std::string> out;
	if (functions)
		for (const auto &function : *functions)
			out.push_back(function.module + ":" + function.name);
	return out;
}

using Names = std::vector<std::string>;

/// Types of a kernel where vfs_open() and, through a typedef, vfs_read() are given
/// a struct inode, vfs_sync() one by value of a pointer's pointer, and nop() none.
void write_btf(const std::string &dir)
{
	btf *types = btf__new_empty();
	const int inode = btf__add_struct(types, "inode", 8);
	const int constant = btf__add_const(types, inode);
	const int pointer = btf__add_ptr(types, constant);
	const int name = btf__add_typedef(types, "inode_t", pointer);
	const int twice = btf__add_ptr(types, pointer);
	const auto add = [&](const char *function, int param) {
		const int prototype = btf__add_func_proto(types, 0);
		if (param)
			btf__add_func_param(types, "it", param);
		btf__add_func(types, function, BTF_FUNC_STATIC, prototype);
	};
	add("vfs_open", pointer);
	add("vfs_read", name);
	add("vfs_sync", twice);
	add("nop", 0);
	__u32 size = 0;
	const void *data = btf__raw_data(types, &size);
	spill(dir + "/vmlinux", {static_cast<const char *>(data), size});
	btf__free(types);
}

} // namespace

TEST(ElfCode, BytesAreThoseThatRun)
{
	auto code = open_elf_code("/proc/self/exe");
	ASSERT_TRUE(code.ok()) << code.error().what;
	const auto &functions = (*code)->functions();
	const auto at = std::find_if(functions.begin(), functions.end(), [](const Function &f) {
		return f.name == "ls_code_test_sum";
	});
	ASSERT_NE(at, functions.end());
	EXPECT_EQ(at->module, "vmlinux");
	auto bytes = (*code)->read(*at);
	ASSERT_TRUE(bytes.ok());
	ASSERT_EQ(bytes->size(), at->size);
	EXPECT_EQ(std::memcmp(bytes->data(), reinterpret_cast<const void *>(&ls_code_test_sum),
			      bytes->size()),
		  0);
	const auto decoded = decode_function(*bytes, at->address);
	EXPECT_TRUE(std::any_of(decoded.sites.begin(), decoded.sites.end(), [](const auto &site) {
		return site.op == AccessOp::Read && site.size == 4;
	}));
	EXPECT_EQ(decoded.count(Unsupported::Undecodable), 0u);
}

TEST(ElfCode, OtherFilesAreErrors)
{
	TempDir dir;
	spill(dir / "text", "no ELF");
	Elf64_Ehdr header{};
	std::memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	header.e_type = ET_REL;
	header.e_version = EV_CURRENT;
	header.e_ehsize = sizeof(header);
	header.e_machine = EM_AARCH64;
	spill(dir / "arm", {reinterpret_cast<const char *>(&header), sizeof(header)});
	header.e_machine = EM_X86_64;
	spill(dir / "bare", {reinterpret_cast<const char *>(&header), sizeof(header)});
	for (const char *name : {"text", "arm", "bare", "missing"}) {
		auto code = open_elf_code(dir / name);
		ASSERT_FALSE(code.ok()) << name;
		EXPECT_NE(code.error().what.find(dir / name), std::string::npos);
		EXPECT_FALSE(code.error().hint.empty());
	}
	EXPECT_NE(open_elf_code(dir / "arm").error().what.find("x86-64"), std::string::npos);
	EXPECT_NE(open_elf_code(dir / "bare").error().what.find("symbols"), std::string::npos);
}

TEST_F(ProcTest, FunctionsEndAtTheNextSymbol)
{
	auto code = open_kernel_code(dir.path());
	ASSERT_TRUE(code.ok()) << code.error().what;
	std::vector<std::string> found;
	for (const auto &f : (*code)->functions())
		found.push_back(f.module + ":" + f.name + " " + std::to_string(f.size));
	EXPECT_EQ(found, (Names{"vmlinux:_stext 16", "vmlinux:first 16", "vmlinux:second 8",
				"vmlinux:second_alias 8", "vmlinux:second.cold 8", "mod:mod_get 16",
				"mod:mod_put 4080"}));
}

TEST_F(ProcTest, CodeIsReadWhereItIs)
{
	auto code = open_kernel_code(dir.path());
	ASSERT_TRUE(code.ok());
	for (const char *pattern : {"second", "mod:*_put"}) {
		auto list = list_sites(**code, pattern);
		ASSERT_TRUE(list.ok()) << pattern;
		ASSERT_EQ(list->sites(), 1u) << pattern;
		/* The zeros behind the module's last function are none of it. */
		EXPECT_EQ(list->unsupported(Unsupported::Undecodable), 0u);
	}
	auto bytes = (*code)->read((*code)->functions().back());
	ASSERT_TRUE(bytes.ok());
	EXPECT_EQ(bytes->size(), 4u);
}

TEST_F(ProcTest, CodeThatIsNotThereIsAnError)
{
	write_kcore(0x20, 0x8);
	auto code = open_kernel_code(dir.path());
	ASSERT_TRUE(code.ok());
	auto list = list_sites(**code, "mod:*");
	ASSERT_TRUE(list.ok());
	EXPECT_EQ(list->unread, (Names{"mod_get", "mod_put"}));
	EXPECT_TRUE(list->functions.empty());

	/* The segment says more than the file has. */
	write_kcore(0x20, 0x2000);
	spill(dir / "modules", "mod 8192 0 - Live 0xffffffffc0100000\n");
	code = open_kernel_code(dir.path());
	ASSERT_TRUE(code.ok());
	list = list_sites(**code, "mod_put");
	ASSERT_TRUE(list.ok());
	EXPECT_EQ(list->unread, (Names{"mod_put"}));
}

TEST_F(ProcTest, HiddenAddressesAndNoMemoryAreErrors)
{
	spill(dir / "kcore", "x");
	auto code = open_kernel_code(dir.path());
	ASSERT_FALSE(code.ok());
	EXPECT_NE(code.error().what.find("kcore"), std::string::npos);
	spill(dir / "kallsyms", "0000000000000000 T first\n");
	code = open_kernel_code(dir.path());
	ASSERT_FALSE(code.ok());
	EXPECT_NE(code.error().hint.find("root"), std::string::npos);
	EXPECT_FALSE(open_kernel_code(dir / "none").ok());
}

TEST(ProbeBlacklist, RangesOfTheKernelsOwnList)
{
	TempDir dir;
	spill(dir / "blacklist", "0xffffffff81000000-0xffffffff81000010\tfirst\n"
				 "0x0000000000000000-0x0000000000000000\thidden\n"
				 "junk\n0x1-\t\n"
				 "0xffffffff81000020-0xffffffff81000021\tsecond\n");
	const auto ranges = probe_blacklist(dir / "blacklist");
	ASSERT_EQ(ranges.size(), 2u);
	EXPECT_EQ(ranges[0].begin, 0xffffffff81000000u);
	EXPECT_EQ(ranges[0].end, 0xffffffff81000010u);
	EXPECT_EQ(ranges[1].begin, 0xffffffff81000020u);
	EXPECT_TRUE(probe_blacklist(dir / "none").empty());
}

TEST(Select, NamesModulesAndSplitOffParts)
{
	const FakeCode code({{"vmlinux", "vfs_open"},
			     {"vmlinux", "vfs_open.cold"},
			     {"vmlinux", "do_vfs_open"},
			     {"ext4", "vfs_open"},
			     {"ext4", "ext4_mb_free.isra.0"}});
	EXPECT_EQ(names_of(select_functions(code, "vfs_open")),
		  (Names{"vmlinux:vfs_open", "vmlinux:vfs_open.cold", "ext4:vfs_open"}));
	EXPECT_EQ(names_of(select_functions(code, "vmlinux:*vfs*")),
		  (Names{"vmlinux:vfs_open", "vmlinux:vfs_open.cold", "vmlinux:do_vfs_open"}));
	EXPECT_EQ(names_of(select_functions(code, "ext4:ext4_mb_free")),
		  (Names{"ext4:ext4_mb_free.isra.0"}));
	EXPECT_EQ(names_of(select_functions(code, "*.cold")), (Names{"vmlinux:vfs_open.cold"}));
	for (const char *pattern : {"", ":", "ext4:", ":f", "struct ", "xfs:*", "vfs_close"}) {
		auto none = select_functions(code, pattern);
		ASSERT_FALSE(none.ok()) << pattern;
		EXPECT_EQ(none.error().exit, Exit::Usage);
		EXPECT_FALSE(none.error().hint.empty());
	}
}

TEST(Select, FunctionsThatTakeAStruct)
{
	TempDir dir;
	write_btf(dir.path());
	const FakeCode code({{"vmlinux", "nop"},
			     {"vmlinux", "vfs_open"},
			     {"vmlinux", "vfs_read.part.0"},
			     {"vmlinux", "vfs_sync"},
			     {"ext4", "vfs_open"}});
	const Names takers = {"vmlinux:vfs_open", "vmlinux:vfs_read.part.0"};
	EXPECT_EQ(names_of(select_functions(code, "struct inode", dir.path())), takers);
	EXPECT_EQ(names_of(select_functions(code, "vmlinux:struct inode", dir.path())), takers);
	EXPECT_FALSE(select_functions(code, "ext4:struct inode", dir.path()).ok());
	auto unknown = select_functions(code, "struct file", dir.path());
	ASSERT_FALSE(unknown.ok());
	EXPECT_EQ(unknown.error().exit, Exit::Usage);
	auto without = select_functions(code, "struct inode", dir / "none");
	ASSERT_FALSE(without.ok());
	EXPECT_EQ(without.error().exit, Exit::Environment);
}

TEST(ListSites, CountsAndWhatCouldNotBeRead)
{
	const FakeCode code({{"m", "one"}, {"m", "gone"}, {"m", "two"}});
	auto list = list_sites(code, "m:*");
	ASSERT_TRUE(list.ok());
	EXPECT_EQ(list->functions.size(), 2u);
	EXPECT_EQ(list->sites(), 2u);
	EXPECT_EQ(list->unsupported(Unsupported::String), 2u);
	EXPECT_EQ(list->unread, (Names{"gone"}));
	SiteOptions options;
	options.refused = {{0, ~std::uint64_t{0}}};
	list = list_sites(code, "m:*", options);
	ASSERT_TRUE(list.ok());
	EXPECT_EQ(list->sites(), 0u);
	EXPECT_EQ(list->unsupported(Unsupported::Refused), 4u);
}

TEST(ListSites, AsTheModuleTakesThem)
{
	SiteList list;
	list.functions.push_back({{"f", "m", kText, 64, 0}, {}});
	auto &sites = list.functions.back().decoded.sites;
	AccessSite site;
	site.offset = 4;
	site.length = 7;
	site.size = 4;
	site.op = AccessOp::ReadWrite;
	site.atomic = true;
	site.where.base = 7;
	site.where.index = 0;
	site.where.scale = 8;
	site.where.disp = -16;
	sites.push_back(site);
	site = {};
	site.offset = 0x10;
	site.length = 8;
	site.size = 8;
	site.op = AccessOp::Write;
	site.where.rip_relative = true;
	site.where.segment = Segment::Gs;
	site.where.disp = -0x20;
	sites.push_back(site);
	const auto probes = probe_sites(list);
	ASSERT_EQ(probes.size(), 2u);
	EXPECT_EQ(probes[0].ip, kText + 4);
	EXPECT_EQ(probes[0].disp, -16);
	EXPECT_EQ(probes[0].base, 7);
	EXPECT_EQ(probes[0].index, 0);
	EXPECT_EQ(probes[0].scale, 8);
	EXPECT_EQ(probes[0].percpu, 0);
	EXPECT_EQ(probes[0].size, 4);
	EXPECT_EQ(probes[0].op, LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC);
	EXPECT_EQ(probes[1].base, LS_BASE_RIP);
	EXPECT_EQ(probes[1].index, LS_BASE_NONE);
	EXPECT_EQ(static_cast<std::uint64_t>(probes[1].disp), kText + 0x18 - 0x20);
	EXPECT_EQ(probes[1].percpu, 1);
	EXPECT_EQ(probes[1].op, LS_ACC_WRITE);
}
