// SPDX-License-Identifier: GPL-2.0
// The parts of the VM runner that need no VM: selftests/cli/vm-run has the rest.
#include "vm/cpio.h"
#include "vm/depends.h"
#include "vm/initramfs.h"
#include "vm/kernel.h"
#include "vm/kvm.h"
#include "vm/qemu.h"
#include "vm/unpacked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>

namespace fs = std::filesystem;
using namespace lockscope;

namespace {

class TemporaryDirectory {
public:
	TemporaryDirectory()
	{
		std::string name = fs::temp_directory_path() / "vm-test-XXXXXX";
		path_ = mkdtemp(name.data());
	}
	~TemporaryDirectory() { fs::remove_all(path_); }
	fs::path operator/(const std::string &name) const { return path_ / name; }

private:
	fs::path path_;
};

void write(const fs::path &path, const std::string &content)
{
	fs::create_directories(path.parent_path());
	std::ofstream(path, std::ios::binary) << content;
}

std::size_t field(const std::string &archive, std::size_t entry, int index)
{
	return std::stoul(archive.substr(entry + 6 + 8 * static_cast<std::size_t>(index), 8),
			  nullptr, 16);
}

std::string what_sh_reads(const std::string &quoted)
{
	std::string command = "printf %s " + quoted;
	std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
	std::string out;
	for (int c; (c = fgetc(pipe.get())) != EOF;)
		out += static_cast<char>(c);
	return out;
}

bool has(const std::vector<std::string> &words, const std::string &word)
{
	return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace

TEST(Kvm, ThatItFailsIsRememberedForTheKernelAsItIs)
{
	TemporaryDirectory dir;
	const char *before = std::getenv("XDG_CACHE_HOME");
	const std::string kept = before ? before : "";
	setenv("XDG_CACHE_HOME", (dir / "cache").c_str(), 1);
	write(dir / "vmlinuz", "image");
	const vm::Kernel kernel{dir / "vmlinuz", "6.1.0-9-amd64", {}};
	vm::Kernel newer = kernel, outside = kernel;
	newer.release = "6.12.0-9-amd64";
	outside.release = "../outside";
	EXPECT_FALSE(vm::kvm_fails(kernel));
	vm::remember_kvm_fails(kernel);
	vm::remember_kvm_fails(outside);
	EXPECT_TRUE(vm::kvm_fails(kernel));
	EXPECT_FALSE(vm::kvm_fails(newer));
	EXPECT_FALSE(fs::exists(dir / "cache/lockscope/outside"));
	fs::last_write_time(kernel.image,
			    fs::last_write_time(kernel.image) + std::chrono::seconds(1));
	EXPECT_FALSE(vm::kvm_fails(kernel)) << "another build";
	before ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
}

TEST(Cpio, EntriesAreAlignedAndSized)
{
	vm::CpioArchive archive;
	archive.file("a", "12345");
	archive.symlink("bin/sh", "busybox");
	const std::string bytes = archive.finish();

	EXPECT_EQ(bytes.substr(0, 6), "070701");
	EXPECT_EQ(field(bytes, 0, 1), 0100644u);
	EXPECT_EQ(field(bytes, 0, 6), 5u) << "file size";
	EXPECT_EQ(field(bytes, 0, 11), 2u) << "name with its zero";
	EXPECT_EQ(bytes.substr(112, 5), "12345") << "content starts at a multiple of 4";
	EXPECT_EQ(bytes.substr(120, 6), "070701") << "next entry too";
	EXPECT_EQ(field(bytes, 120, 1), 0120777u);
	EXPECT_EQ(bytes.size() % 4, 0u);
	EXPECT_NE(bytes.find("TRAILER!!!"), std::string::npos);
}

TEST(Cpio, SameInputSameBytes)
{
	vm::CpioArchive one, two;
	one.directory("dev");
	two.directory("dev");
	EXPECT_EQ(one.finish(), two.finish());
}

TEST(ShellQuote, ShReadsBackWhatWasQuoted)
{
	for (const std::string text : {"", "plain", "two words", "it's", "$HOME `id` \\n \"q\"",
				       "'", "-n", "line\nbreak", "*;&|<>(){}[]#!~"})
		EXPECT_EQ(what_sh_reads(vm::shell_quote(text)), text);
}

TEST(Kernel, ReleaseComesFromTheImageItself)
{
	TemporaryDirectory dir;
	std::string image(0x1000, '\0');
	image.replace(0x202, 4, "HdrS");
	image[0x20e] = 0x40; // counts from 0x200
	image[0x20f] = 0x03;
	image.replace(0x540, 24, "6.1.0-1-amd64 (someone) ");
	write(dir / "vmlinuz", image);
	EXPECT_EQ(vm::image_release(dir / "vmlinuz"), "6.1.0-1-amd64");
}

TEST(Kernel, OtherFilesHaveNoRelease)
{
	TemporaryDirectory dir;
	write(dir / "text", "not a kernel");
	write(dir / "empty", "");
	std::string beyond(0x210, '\0');
	beyond.replace(0x202, 4, "HdrS");
	beyond[0x20f] = 0x7f; // the version would lie past the end
	write(dir / "cut", beyond);
	EXPECT_EQ(vm::image_release(dir / "text"), "");
	EXPECT_EQ(vm::image_release(dir / "empty"), "");
	EXPECT_EQ(vm::image_release(dir / "cut"), "");
	EXPECT_EQ(vm::image_release(dir / "missing"), "");
	auto kernel = vm::find_kernel(dir / "text");
	ASSERT_FALSE(kernel);
	EXPECT_EQ(kernel.error().exit, Exit::Environment);
	EXPECT_FALSE(kernel.error().hint.empty());
}

namespace {

// Files, "?" before those that may refuse to load.
std::vector<std::string> closure(const fs::path &folder, const vm::ModuleNeeds &needs,
				 const std::set<std::string> &given = {},
				 const std::vector<std::string> &expected_missing = {})
{
	std::vector<std::string> names, missing;
	for (const auto &[path, soft] :
	     vm::module_closure({"vmlinuz", "1", folder}, needs, given, missing))
		names.push_back((soft ? "?" : "") + path.filename().string());
	EXPECT_EQ(missing, expected_missing);
	return names;
}

using Names = std::vector<std::string>;

// What Debian's lists have of crc32c and nf_conntrack.
void write_crc32c_lists(const TemporaryDirectory &dir)
{
	write(dir / "modules.dep", "kernel/x86/crc32c-intel.ko:\n"
				   "kernel/crypto/crc32c_generic.ko:\n"
				   "kernel/lib/libcrc32c.ko:\n"
				   "kernel/net/nf_defrag_ipv6.ko:\n"
				   "kernel/net/nf_conntrack.ko: kernel/net/nf_defrag_ipv6.ko "
				   "kernel/lib/libcrc32c.ko\n");
	write(dir / "modules.softdep", "# comment\nsoftdep libcrc32c pre: crc32c\n"
				       "softdep nf_defrag_ipv6 ignored post: crc32c\n");
	write(dir / "modules.alias", "alias crypto-crc32c crc32c_intel\n"
				     "alias crc32c crc32c_intel\n"
				     "alias crypto-crc32c crc32c_generic\n"
				     "alias crc32c crc32c_generic\n"
				     "alias gpio*:v1 crc32c_generic\n");
	write(dir / "modules.builtin", "kernel/fs/fuse/fuse-core.ko\n");
	write(dir / "modules.symbols", "alias symbol:crc32c libcrc32c\n"
				       "alias symbol:crc32c_impl libcrc32c\n");
}

} // namespace

TEST(Depends, ModulesComeAfterWhatTheyNeed)
{
	TemporaryDirectory dir;
	write(dir / "modules.dep",
	      "kernel/net/9p/9pnet.ko:\n"
	      "kernel/net/9p/9pnet_virtio.ko: kernel/net/9p/9pnet.ko kernel/v/virtio.ko\n"
	      "kernel/v/virtio.ko:\n"
	      "kernel/fs/9p/9p.ko.xz: kernel/net/9p/9pnet.ko kernel/fs/netfs.ko\n"
	      "kernel/fs/netfs.ko:\n");
	EXPECT_EQ(closure(dir / ".", {{"9pnet-virtio", "9p", "built_in"}, {}}, {}, {"built_in"}),
		  (Names{"virtio.ko", "9pnet.ko", "9pnet_virtio.ko", "netfs.ko", "9p.ko.xz"}));
}

TEST(Depends, SoftDependenciesAreResolvedByAliasAndComeFirst)
{
	TemporaryDirectory dir;
	write_crc32c_lists(dir);
	EXPECT_EQ(closure(dir / ".", {{"libcrc32c"}, {}}),
		  (Names{"?crc32c-intel.ko", "?crc32c_generic.ko", "libcrc32c.ko"}));
	EXPECT_EQ(closure(dir / ".", {{"nf_conntrack"}, {}}),
		  (Names{"?crc32c-intel.ko", "?crc32c_generic.ko", "libcrc32c.ko",
			 "nf_defrag_ipv6.ko", "nf_conntrack.ko"}));
	EXPECT_EQ(closure(dir / ".", {{}, {"crypto-crc32c", "gpio-7:v1", "unheard-of"}}),
		  (Names{"?crc32c-intel.ko", "?crc32c_generic.ko"}));
}

TEST(Depends, WhatIsNeededAfterAllMustLoad)
{
	TemporaryDirectory dir;
	write_crc32c_lists(dir);
	EXPECT_EQ(closure(dir / ".", {{"crc32c_generic"}, {"crc32c"}}),
		  (Names{"?crc32c-intel.ko", "crc32c_generic.ko"}));
}

TEST(Depends, WhatIsGivenOrBuiltInIsNotLoaded)
{
	TemporaryDirectory dir;
	write_crc32c_lists(dir);
	EXPECT_EQ(closure(dir / ".", {{"libcrc32c", "fuse_core", "mine"}, {}},
			  {"crc32c_intel", "mine"}),
		  (Names{"?crc32c_generic.ko", "libcrc32c.ko"}));
	EXPECT_EQ(closure(dir / ".", {{"compat_xtables"}, {}}, {}, {"compat_xtables"}), Names{});
}

TEST(Depends, SoftDependenciesMayBeCircular)
{
	TemporaryDirectory dir;
	write(dir / "modules.dep", "a.ko:\nb.ko: a.ko\n");
	write(dir / "modules.softdep", "softdep a pre: b\nsoftdep b pre: a\n");
	EXPECT_EQ(closure(dir / ".", {{"b"}, {}}).size(), 2u);
}

TEST(Depends, NeedsAreReadFromTheModule)
{
	const std::string head("\177ELF license=GPL\0", 17);
	EXPECT_EQ(vm::module_needs(head + std::string("depends=a,b_c\0x", 15)).hard,
		  (Names{"a", "b_c"}));
	EXPECT_TRUE(vm::module_needs(head + std::string("depends=\0x", 10)).hard.empty());
	EXPECT_TRUE(vm::module_needs("").hard.empty());
	const std::string two("softdep=pre: a-b c post: d\0softdep=e pre: f\0", 44);
	EXPECT_EQ(vm::module_needs(head + two).soft, (Names{"a-b", "c", "f"}));
	EXPECT_EQ(vm::module_needs(head + "softdep=pre: cut").soft, Names{"cut"});
}

TEST(Depends, ARefusedModuleSaysWhatToLoadFirst)
{
	TemporaryDirectory dir;
	write_crc32c_lists(dir);
	write(dir / "mine/Module.symvers", "0x0\txtnu_new\tcompat_xtables\tEXPORT_SYMBOL_GPL\t\n");
	const vm::Kernel kernel{"vmlinuz", "6.1", dir / "."};
	const std::vector<fs::path> modules = {dir / "mine/xt_x.ko"};
	auto hint = [&](const std::string &said) {
		return vm::refusal_hint(kernel, said, modules);
	};
	EXPECT_NE(hint("insmod apfs.ko: x; Unknown symbol crc32c (err -2)")
			  .find("crc32c is exported by libcrc32c: put --module "),
		  std::string::npos);
	EXPECT_NE(hint("Unknown symbol xtnu_new (err -2)").find("mine/compat_xtables.ko before"),
		  std::string::npos);
	EXPECT_NE(hint("Unknown symbol nowhere (err -2)").find("no module of kernel 6.1 exports"),
		  std::string::npos);
	EXPECT_NE(hint("version magic '5.10 SMP' should be '6.1 SMP'").find("for kernel 6.1"),
		  std::string::npos);
	EXPECT_EQ(hint("insmod x.ko: No such device"), "");
	EXPECT_NE(hint("Unknown symbol "), "");
}

TEST(Qemu, TheUnpackedKernelIsBootedWhereThereIsOne)
{
	const vm::Kernel kernel{"vmlinuz", "1", ""};
	EXPECT_TRUE(has(vm::qemu_command({}, kernel, {"i", "c", "l", "q", false, "vmlinux"}),
			"vmlinux"));
	EXPECT_TRUE(has(vm::qemu_command({}, kernel, {"i", "c", "l", "q", false, {}}), "vmlinuz"));
}

// An ELF file of 64 bits with one note, of Xen.
std::string elf_with_note(unsigned char type)
{
	std::string elf(64 + 56 + 24, '\0');
	elf.replace(0, 7,
		    "\x7f"
		    "ELF\x02\x01\x01");
	elf[16] = 2;  // ET_EXEC
	elf[18] = 62; // EM_X86_64
	elf[20] = 1;  // EV_CURRENT
	elf[32] = 64; // e_phoff
	elf[52] = 64, elf[54] = 56, elf[56] = 1;
	elf[64] = 4;		    // PT_NOTE
	elf[64 + 8] = 64 + 56;	    // p_offset
	elf[64 + 32] = 24;	    // p_filesz
	elf[120] = 4, elf[124] = 8; // n_namesz, n_descsz
	elf[128] = static_cast<char>(type);
	elf.replace(132, 3, "Xen");
	return elf;
}

// The header says that @packed is @more bytes longer.
std::string image_of(const std::string &packed, unsigned char more = 0)
{
	std::string image(0x400, '\0');
	image[0x1f1] = 1;
	image.replace(0x202, 4, "HdrS");
	image[0x206] = 8, image[0x207] = 2;
	image[0x24c] = static_cast<char>(packed.size() + more);
	image[0x24d] = static_cast<char>((packed.size() + more) >> 8);
	return image + packed;
}

class Unpacked : public testing::Test {
protected:
	Unpacked() { setenv("XDG_CACHE_HOME", (dir_ / "cache").c_str(), 1); }
	~Unpacked() override { unsetenv("XDG_CACHE_HOME"); }

	std::string packed(const std::string &tool, const std::string &content)
	{
		write(dir_ / "content", content);
		const fs::path to = dir_ / "packed";
		EXPECT_EQ(std::system(
				  (tool + " < " + (dir_ / "content").string() + " > " + to.string())
					  .c_str()),
			  0);
		std::ifstream in(to, std::ios::binary);
		return {std::istreambuf_iterator<char>(in), {}};
	}

	fs::path unpacked(const std::string &image)
	{
		write(dir_ / "vmlinuz", image);
		return vm::unpacked_image({dir_ / "vmlinuz", "1", {}});
	}

	TemporaryDirectory dir_;
};

TEST_F(Unpacked, AKernelIsTakenOutOfItsImageOnce)
{
	const std::string kernel = elf_with_note(18), size = "size";
	for (const std::string &image :
	     {image_of(packed("gzip -c", kernel)), image_of(packed("xz -c", kernel) + size)}) {
		const fs::path file = unpacked(image);
		ASSERT_FALSE(file.empty());
		EXPECT_EQ(fs::file_size(file), kernel.size());
		/* The next guest boots that file, whatever is in it. */
		write(file, kernel + "again");
		const fs::path again = vm::unpacked_image({dir_ / "vmlinuz", "1", {}});
		EXPECT_EQ(again, file);
		EXPECT_EQ(fs::file_size(again), kernel.size() + 5);
	}
	EXPECT_TRUE(unpacked(image_of(packed("gzip -c", elf_with_note(17)))).empty());
}

TEST_F(Unpacked, TheLastOnesAreKept)
{
	fs::path last;
	for (int i = 0; i < 12; i++)
		last = unpacked(image_of(packed("gzip -c", elf_with_note(18))) +
				std::string(static_cast<std::size_t>(i), ' '));
	EXPECT_TRUE(fs::exists(last));
	EXPECT_EQ(std::distance(fs::directory_iterator(last.parent_path()), {}), 8);
}

TEST_F(Unpacked, OtherFilesAreBootedAsTheyAre)
{
	const std::string whole = image_of(packed("gzip -c", elf_with_note(18)));
	EXPECT_TRUE(unpacked("").empty());
	EXPECT_TRUE(unpacked(whole.substr(0, 0x240)).empty());
	EXPECT_TRUE(unpacked(whole.substr(0, 0x410)).empty());
	EXPECT_TRUE(unpacked(image_of("no compression")).empty());
	EXPECT_TRUE(unpacked(image_of(packed("gzip -c", "no ELF"))).empty());
	EXPECT_TRUE(unpacked(image_of(packed("gzip -c", elf_with_note(18)), 200)).empty());
}

TEST(Qemu, IcountMeansOneCpu)
{
	vm::Options options;
	options.icount = true;
	options.cpus = 4;
	auto command =
		vm::qemu_command(options, {"vmlinuz", "1", ""}, {"i", "c", "l", "q", false, {}});
	auto smp = std::find(command.begin(), command.end(), "-smp");
	ASSERT_NE(smp, command.end());
	EXPECT_EQ(smp[1], "1");
	EXPECT_TRUE(has(command, "shift=0,sleep=off"));
}

TEST(Qemu, PathsMayHaveCommas)
{
	vm::Options options;
	options.out_dir = "/a,b";
	auto command =
		vm::qemu_command(options, {"vmlinuz", "1", ""}, {"i", "c", "l", "q", false, {}});
	EXPECT_TRUE(std::any_of(command.begin(), command.end(), [](const std::string &word) {
		return word.starts_with("local,path=/a,,b,mount_tag=out");
	}));
}

TEST(Qemu, EveryDeviceIsAdded)
{
	vm::Options options;
	options.devices = {"qemu-xhci,id=x", "usb-kbd,bus=x.0"};
	auto command =
		vm::qemu_command(options, {"vmlinuz", "1", ""}, {"i", "c", "l", "q", false, {}});
	auto first = std::find(command.begin(), command.end(), "-device");
	ASSERT_LT(first - command.begin(), static_cast<std::ptrdiff_t>(command.size()) - 3);
	EXPECT_EQ(first[1], "qemu-xhci,id=x");
	EXPECT_EQ(first[2], "-device");
	EXPECT_EQ(first[3], "usb-kbd,bus=x.0");
}

TEST(Qemu, TheUsersParametersComeLast)
{
	vm::Options options;
	options.append = "panic=5";
	auto command =
		vm::qemu_command(options, {"vmlinuz", "1", ""}, {"i", "c", "l", "q", false, {}});
	auto append = std::find(command.begin(), command.end(), "-append");
	ASSERT_NE(append, command.end());
	EXPECT_TRUE(append[1].ends_with(" panic=5"));
	EXPECT_NE(append[1].find("slab_nomerge"), std::string::npos);
}
