// SPDX-License-Identifier: GPL-2.0
#include "vm/initramfs.h"

#include "util/modules.h"
#include "vm/cpio.h"
#include "vm/depends.h"
#include "vm/guest_init.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include <sys/stat.h>

extern char **environ;

namespace fs = std::filesystem;

namespace lockscope::vm {
namespace {

// Used by guest-init.sh.
constexpr std::array kApplets = {
	"sh",	    "awk",	"cat", "chmod",	 "chroot", "cp",    "dmesg",  "hostname",
	"ifconfig", "insmod",	"ip",  "kill",	 "ln",	   "mkdir", "mkfifo", "mknod",
	"mount",    "poweroff", "rm",  "setsid", "sleep",  "sync",  "umount",
};

// Enough to access the host's files; built-in ones are skipped.
const std::vector<std::string> kBootModules = {"virtio_pci", "9pnet_virtio", "9p", "overlay"};

bool read_file(const fs::path &path, std::string &content)
{
	std::ifstream in(path, std::ios::binary);
	if (!in)
		return false;
	content.assign(std::istreambuf_iterator<char>(in), {});
	return !in.bad();
}

// Newer Debian kernels ship .ko.xz, others .ko.zst; busybox loads plain files.
bool read_module(const fs::path &path, std::string &content)
{
	std::string tool = path.extension() == ".xz"	? "xz -dc "
			   : path.extension() == ".zst" ? "zstd -dcq "
							: "";
	if (tool.empty())
		return read_file(path, content);
	std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen((tool + shell_quote(path)).c_str(), "re"),
						    pclose);
	if (!pipe)
		return false;
	content.clear();
	std::array<char, 65536> buffer;
	while (std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe.get()))
		content.append(buffer.data(), n);
	return pclose(pipe.release()) == 0;
}

fs::path find_busybox()
{
	// Must be the static one: there is no libc in the initramfs.
	for (const char *path :
	     {"/usr/lib/busybox-static/busybox", "/bin/busybox", "/usr/bin/busybox"}) {
		std::string content;
		if (read_file(path, content) &&
		    content.find("/ld-linux-x86-64") == std::string::npos)
			return path;
	}
	return {};
}

// Variables of the host's environment are only passed where programs are expected to follow
// the user's settings.
std::string exported_environment()
{
	std::ostringstream out;
	// To systemd's tools the guest's root is a chroot, in which they would do nothing.
	out << "export HOME=/root USER=root LOGNAME=root LANG=C.UTF-8 LOCKSCOPE_VM=1\n"
	    << "export SYSTEMD_IGNORE_CHROOT=1\n"
	    << "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";
	for (char **entry = environ; *entry; entry++) {
		std::string text = *entry;
		std::string name = text.substr(0, text.find('='));
		if (name == "TERM" || name == "COLUMNS" || name == "NO_COLOR" || name == "CI" ||
		    (name.starts_with("LOCKSCOPE_") && name != "LOCKSCOPE_VM"))
			out << "export " << name << "=" << shell_quote(text.substr(name.size() + 1))
			    << "\n";
	}
	return out.str();
}

std::string command_script(const Options &options, const std::string &cwd)
{
	std::ostringstream out;
	out << "#!/bin/sh\n" << exported_environment();
	out << "cd " << shell_quote(cwd) << " || exit 126\n";
	out << "exec";
	for (const std::string &word : options.command)
		out << ' ' << shell_quote(word);
	out << "\n";
	return out.str();
}

std::string copies_script(const Options &options, const std::string &cwd)
{
	std::ostringstream out;
	out << "set -e\n";
	for (const Copy &copy : options.copies) {
		std::string source = fs::absolute(copy.source);
		std::string destination = copy.destination;
		if (!destination.starts_with('/'))
			destination = cwd + "/" + destination;
		out << "mkdir -p "
		    << shell_quote("/new" + fs::path(destination).parent_path().string()) << "\n";
		out << "cp -R " << shell_quote("/lower" + source) << ' '
		    << shell_quote("/new" + destination) << "\n";
	}
	return out.str();
}

// The error for a module of the user's that needs @name, which nothing provides.
Error missing_module(const fs::path &file, const std::string &name, const Kernel &kernel)
{
	std::error_code ec;
	const fs::path beside = file.parent_path() / (name + ".ko");
	return environment_error(file.string() + " needs module " + name + ", which kernel " +
					 kernel.release + " does not have",
				 fs::exists(beside, ec)
					 ? "put --module " + beside.string() + " before it"
					 : "build it, and name it with --module before this one");
}

struct UserModules {
	std::string list;	     // a line each: file and parameters
	std::set<std::string> names; // as the kernel has them
	ModuleNeeds needs;	     // of all of them
};

// Add the user's modules under ls/modules/.
Result<UserModules> add_user_modules(CpioArchive &archive, const Options &options,
				     const Kernel &kernel)
{
	UserModules all;
	for (const std::string &spec : options.modules) {
		const std::string file = module_file(spec);
		std::string content;
		if (!read_module(file, content))
			return environment_error(
				"cannot read module " + file,
				"build it first (make), or check the path given to --module");
		if (content.compare(0, 4, "\177ELF") != 0)
			return usage_error(file + " is not a kernel module",
					   "--module takes a .ko file, then its parameters");
		const ModuleNeeds needs = module_needs(content);
		std::vector<std::string> missing;
		module_closure(kernel, needs, all.names, missing);
		if (!missing.empty())
			return missing_module(file, missing[0], kernel);
		for (const std::string &name : needs.hard)
			if (!all.names.count(name))
				all.needs.hard.push_back(name);
		all.needs.soft.insert(all.needs.soft.end(), needs.soft.begin(), needs.soft.end());
		std::string name = fs::path(file).filename();
		all.names.insert(module_name(name));
		name = name.substr(0, name.find(".ko")) + ".ko";
		archive.file("ls/modules/" + name, content);
		all.list += name + spec.substr(file.size()) + "\n";
	}
	return all;
}

} // namespace

std::string shell_quote(const std::string &text)
{
	std::string quoted = "'";
	for (char c : text)
		quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return quoted + "'";
}

std::string module_file(const std::string &spec)
{
	return spec.substr(0, spec.find(' '));
}

Result<std::string> build_initramfs(const Options &options, const Kernel &kernel,
				    const std::string &cwd)
{
	CpioArchive archive;
	for (const char *dir : {"bin", "dev", "proc", "sys", "ls", "ls/boot", "ls/modules"})
		archive.directory(dir);
	archive.device("dev/console", S_IFCHR | 0600, 5, 1);
	archive.device("dev/null", S_IFCHR | 0666, 1, 3);

	fs::path busybox = find_busybox();
	std::string content;
	if (busybox.empty() || !read_file(busybox, content))
		return environment_error("no static busybox for the guest's first steps",
					 "apt-get install busybox-static");
	archive.file("bin/busybox", content, 0755);
	for (const char *applet : kApplets)
		archive.symlink(std::string("bin/") + applet, "busybox");
	archive.file("init", kGuestInit, 0755);

	auto modules = add_user_modules(archive, options, kernel);
	if (!modules)
		return modules.error();
	archive.file("ls/modules.list", modules->list);

	ModuleNeeds wanted = modules->needs;
	wanted.hard.insert(wanted.hard.begin(), kBootModules.begin(), kBootModules.end());
	std::ostringstream boot_list;
	std::vector<std::string> built_in;
	for (const auto &[path, soft] : module_closure(kernel, wanted, modules->names, built_in)) {
		if (!read_module(path, content))
			return environment_error("cannot read " + path.string(),
						 "reinstall the kernel's package, or run depmod");
		std::string name = path.filename();
		name = name.substr(0, name.find(".ko")) + ".ko";
		archive.file("ls/boot/" + name, content);
		boot_list << "/ls/boot/" << name << (soft ? " soft" : "") << "\n";
	}
	archive.file("ls/boot-modules", boot_list.str());

	std::ostringstream config;
	config << "LS_OUT=" << (options.out_dir.empty() ? 0 : 1) << "\n"
	       << "LS_UDEV=" << (options.udev ? 1 : 0) << "\n"
	       << "LS_SHELL=" << (options.shell ? 1 : 0) << "\n"
	       << "LS_RELEASE=" << shell_quote(kernel.release) << "\n"
	       << "LS_BOOT_DIR=" << shell_quote(fs::absolute(kernel.image).parent_path().string())
	       << "\n"
	       << "LS_MODULES_DIR="
	       << shell_quote(kernel.modules.empty() ? "" : fs::absolute(kernel.modules).string())
	       << "\n";
	archive.file("ls/config", config.str());
	archive.file("ls/copies.sh", copies_script(options, cwd));
	archive.file("ls/command.sh", command_script(options, cwd), 0755);
	return archive.finish();
}

} // namespace lockscope::vm
