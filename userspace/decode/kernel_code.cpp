// SPDX-License-Identifier: GPL-2.0
#include "decode/code.h"

#include "util/fd.h"
#include "util/file.h"
#include "util/text.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>

namespace lockscope {

namespace {

/* No function is larger; a gap behind one is not code. */
constexpr std::uint64_t kMaxFunctionBytes = 1u << 20;

struct Symbol {
	std::uint64_t address;
	bool code;
	std::string_view name, module; ///< views of the table's text
};

/// "address type name[\t[module]]"
bool parse_symbol(std::string_view line, Symbol &out)
{
	const auto space = line.find(' ');
	if (space == line.npos || line.size() < space + 4)
		return false;
	out.address = parse_hex64(line.substr(0, space));
	out.code = std::strchr("tTwW", line[space + 1]) != nullptr;
	out.name = line.substr(space + 3);
	out.module = "vmlinux";
	if (const auto tab = out.name.find('\t'); tab != out.name.npos) {
		out.module = out.name.substr(tab + 1);
		out.name = out.name.substr(0, tab);
		if (out.module.size() > 2 && out.module.front() == '[')
			out.module = out.module.substr(1, out.module.size() - 2);
	}
	return out.address != 0;
}

template <typename Action> void for_each_line(std::string_view text, Action &&action)
{
	while (!text.empty()) {
		const auto end = std::min(text.find('\n'), text.size());
		action(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
}

class KernelCode : public CodeSource {
public:
	Status open(const std::string &proc)
	{
		auto symbols = read_file(proc + "/kallsyms");
		if (!symbols)
			return symbols.error();
		auto modules = read_file(proc + "/modules");
		if (modules)
			read_modules(*modules);
		read_symbols(*symbols);
		if (functions_.empty())
			return Error{0, "/proc/kallsyms hides addresses",
				     "run as root, and set kernel.kptr_restrict to 0 or 1",
				     Exit::Environment};
		const std::string path = proc + "/kcore";
		kcore_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
		if (!kcore_.valid())
			return os_error(errno, "cannot read " + path,
					"run as root; a locked-down kernel refuses, and some have "
					"no CONFIG_PROC_KCORE");
		return read_segments(path);
	}

	Result<std::vector<std::uint8_t>> read(const Function &function) const override
	{
		const std::uint64_t end = function.address + function.size;
		for (const auto &segment : segments_) {
			if (function.address < segment.begin || end > segment.end)
				continue;
			std::vector<std::uint8_t> bytes(function.size);
			std::size_t done = 0;
			while (done < bytes.size()) {
				const auto from =
					segment.offset + (function.address - segment.begin) + done;
				const ssize_t n =
					::pread(kcore_.get(), bytes.data() + done,
						bytes.size() - done, static_cast<off_t>(from));
				if (n < 0 && errno == EINTR)
					continue;
				if (n <= 0)
					return os_error(n < 0 ? errno : EIO,
							"cannot read the code of " + function.name);
				done += static_cast<std::size_t>(n);
			}
			/* The memory behind a module's last function is zero. */
			while (!bytes.empty() && bytes.back() == 0)
				bytes.pop_back();
			return bytes;
		}
		return Error{0, "the code of " + function.name + " is not in /proc/kcore",
			     "the module may be gone: try again", Exit::Environment};
	}

private:
	struct Segment {
		std::uint64_t begin, end, offset;
	};

	void read_modules(const std::string &text)
	{
		/* "name size users dependencies state address"; the rest is flags. */
		for (const auto &line : split(text, '\n')) {
			const auto parts = split(line, ' ');
			std::uint64_t size = 0;
			if (parts.size() < 6 || parts[5].size() < 3)
				continue;
			std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), size);
			const auto begin = parse_hex64(std::string_view(parts[5]).substr(2));
			modules_[parts[0]] = {begin, begin + size};
		}
	}

	/// Is it within its module? Init code is freed, and other code may be there since:
	/// ftrace remembers the names.
	bool is_there(const Symbol &symbol) const
	{
		const auto module = modules_.find(symbol.module);
		return module != modules_.end() && symbol.address >= module->second.begin &&
		       symbol.address < module->second.end;
	}

	void read_symbols(std::string_view text)
	{
		std::vector<Symbol> symbols;
		auto &kernel = modules_["vmlinux"];
		for_each_line(text, [&](std::string_view line) {
			Symbol symbol;
			if (!parse_symbol(line, symbol))
				return;
			symbols.push_back(symbol);
			if (symbol.module != "vmlinux")
				return;
			if (symbol.name == "_stext")
				kernel.begin = symbol.address;
			else if (symbol.name == "_etext")
				kernel.end = symbol.address;
		});
		std::erase_if(symbols, [&](const Symbol &symbol) { return !is_there(symbol); });
		std::stable_sort(
			symbols.begin(), symbols.end(),
			[](const Symbol &a, const Symbol &b) { return a.address < b.address; });
		for (auto at = symbols.begin(); at != symbols.end(); ++at) {
			if (!at->code)
				continue;
			const auto next = std::find_if(at, symbols.end(), [&](const Symbol &other) {
				return other.address != at->address;
			});
			std::uint64_t end = modules_.find(at->module)->second.end;
			if (next != symbols.end())
				end = std::min(end, next->address);
			if (end - at->address <= kMaxFunctionBytes)
				functions_.push_back({std::string(at->name),
						      std::string(at->module), at->address,
						      end - at->address, 0});
		}
	}

	Status read_segments(const std::string &path)
	{
		Elf64_Ehdr header;
		bool whole = ::pread(kcore_.get(), &header, sizeof(header), 0) ==
				     static_cast<ssize_t>(sizeof(header)) &&
			     std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
			     header.e_phentsize == sizeof(Elf64_Phdr);
		for (unsigned int i = 0; whole && i < header.e_phnum; i++) {
			Elf64_Phdr segment;
			whole = ::pread(kcore_.get(), &segment, sizeof(segment),
					static_cast<off_t>(header.e_phoff + i * sizeof(segment))) ==
				static_cast<ssize_t>(sizeof(segment));
			if (whole && segment.p_type == PT_LOAD)
				segments_.push_back({segment.p_vaddr,
						     segment.p_vaddr + segment.p_memsz,
						     segment.p_offset});
		}
		if (!whole || segments_.empty())
			return Error{0, path + " is no memory image",
				     "it needs a kernel with CONFIG_PROC_KCORE", Exit::Environment};
		return success();
	}

	std::map<std::string, AddressRange, std::less<>> modules_; ///< including "vmlinux"
	std::vector<Segment> segments_;
	Fd kcore_;
};

} // namespace

Result<std::unique_ptr<CodeSource>> open_kernel_code(const std::string &proc)
{
	auto code = std::make_unique<KernelCode>();
	LS_TRY_STATUS(code->open(proc));
	return Result<std::unique_ptr<CodeSource>>(std::move(code));
}

std::vector<AddressRange> probe_blacklist(const std::string &file)
{
	std::vector<AddressRange> out;
	auto text = read_file(file);
	/* "0xBEGIN-0xEND\tname" */
	for (const auto &line : split(text ? *text : "", '\n')) {
		const auto dash = line.find("-0x"), tab = line.find('\t');
		if (line.rfind("0x", 0) != 0 || dash == line.npos || tab == line.npos || tab < dash)
			continue;
		const std::string_view all(line);
		const AddressRange range{parse_hex64(all.substr(2, dash - 2)),
					 parse_hex64(all.substr(dash + 3, tab - dash - 3))};
		if (range.begin < range.end)
			out.push_back(range);
	}
	return out;
}

} // namespace lockscope
