// SPDX-License-Identifier: GPL-2.0
#include "recover/symbols.h"

#include "util/file.h"
#include "util/printable.h"
#include "util/text.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <set>

namespace lockscope::recover {

namespace {

constexpr std::uint32_t kMostSymbols = 1u << 22, kMostModuleSymbols = 1u << 18, kMostModules = 4096;
constexpr std::uint64_t kMostTypes = 256u << 20, kMostRodata = 64u << 20;
constexpr std::size_t kLongestName = 512;

bool plausible_name(const std::string &name)
{
	return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
		return std::isalnum(c) || c == '_' || c == '.' || c == '$' || c == '-';
	});
}

void add_line(std::string &out, std::uint64_t address, char type, const std::string &name,
	      const std::string &module)
{
	if (!plausible_name(name) || !std::isalpha(static_cast<unsigned char>(type)))
		return;
	out += hex64(address) + " " + type + " " + name;
	if (!module.empty())
		out += "\t[" + module + "]";
	out += "\n";
}

/// Bytes of the kernel one after the other.
class Stream {
public:
	Stream(KernelMemory &kernel, std::uint64_t at) : kernel_(kernel), at_(at) {}

	/// The next one; nullopt at the end of what is mapped.
	std::optional<unsigned char> next()
	{
		if (used_ == buffer_.size()) {
			if (!kernel_.read(at_, buffer_.data(), buffer_.size()))
				return std::nullopt;
			at_ += buffer_.size();
			used_ = 0;
		}
		return buffer_[used_++];
	}

private:
	KernelMemory &kernel_;
	std::uint64_t at_;
	std::array<unsigned char, 64> buffer_{};
	std::size_t used_ = 64;
};

/// The table of compressed names [Linux, kernel/kallsyms.c].
std::string kernel_symbols(KernelMemory &kernel, const Description &about)
{
	const auto names = about.symbol("kallsyms_names"),
		   count_at = about.symbol("kallsyms_num_syms"),
		   tokens_at = about.symbol("kallsyms_token_table"),
		   index_at = about.symbol("kallsyms_token_index"),
		   offsets = about.symbol("kallsyms_offsets"),
		   base_at = about.symbol("kallsyms_relative_base");
	if (!names || !count_at || !tokens_at || !index_at || !offsets || !base_at)
		return {};
	const auto count = kernel.get<std::uint32_t>(*count_at);
	const auto base = kernel.get<std::uint64_t>(*base_at);
	std::array<std::uint16_t, 256> index;
	if (!count || *count > kMostSymbols || !base ||
	    !kernel.read(*index_at, &index, sizeof(index)))
		return {};
	std::vector<std::string> tokens;
	for (const auto at : index)
		tokens.push_back(kernel.text(*tokens_at + at, kLongestName));
	std::string out;
	Stream stream(kernel, *names);
	std::vector<std::int32_t> block;
	constexpr std::uint32_t kBlock = 1024;
	for (std::uint32_t i = 0; i < *count; i++) {
		if (i % kBlock == 0) {
			block.resize(std::min(kBlock, *count - i));
			if (!kernel.read(*offsets + std::uint64_t{i} * 4, block.data(),
					 block.size() * 4))
				break;
		}
		auto length = stream.next();
		if (!length)
			break;
		std::size_t left = *length;
		/* Since Linux 6.1: long names. */
		if (left & 0x80) {
			const auto more = stream.next();
			if (!more)
				break;
			left = (left & 0x7f) | std::size_t{*more} << 7;
		}
		std::string name;
		for (; left; left--) {
			const auto token = stream.next();
			if (!token)
				return out;
			if (name.size() < kLongestName)
				name += tokens[*token];
		}
		/* CONFIG_KALLSYMS_ABSOLUTE_PERCPU: absolute ones are not negative. */
		const std::int64_t offset = block[i % kBlock];
		const std::uint64_t address =
			offset >= 0 ? static_cast<std::uint64_t>(offset)
				    : *base - 1 - static_cast<std::uint64_t>(offset);
		if (name.size() > 1)
			add_line(out, address, name[0], name.substr(1), {});
	}
	return out;
}

/// The build id's note in the read-only data of a module.
std::string find_build_id(KernelMemory &kernel, std::uint64_t at, std::uint64_t bytes)
{
	constexpr std::uint32_t note[4] = {4, 20, 3 /* NT_GNU_BUILD_ID */, 0x00554e47 /* "GNU" */};
	constexpr std::size_t kPage = 4096;
	std::vector<unsigned char> page(kPage);
	for (std::uint64_t done = 0; done < std::min(bytes, kMostRodata); done += kPage) {
		const auto n =
			static_cast<std::size_t>(std::min<std::uint64_t>(kPage, bytes - done));
		if (!kernel.read(at + done, page.data(), n))
			continue;
		for (std::size_t i = 0; i + sizeof(note) <= n; i += 4) {
			unsigned char id[20];
			if (std::memcmp(&page[i], note, sizeof(note)) == 0 &&
			    kernel.read(at + done + i + sizeof(note), id, sizeof(id)))
				return to_hex({reinterpret_cast<const char *>(id), sizeof(id)});
		}
	}
	return {};
}

std::string read_types(KernelMemory &kernel, std::uint64_t at, std::uint64_t bytes)
{
	std::string out;
	if (!at || bytes > kMostTypes)
		return out;
	out.resize(bytes);
	if (!kernel.read(at, out.data(), out.size()))
		out.clear();
	return out;
}

void module_symbols(KernelMemory &kernel, const ls_anchor_module_layout &l, std::uint64_t module,
		    DeadModule &out)
{
	const auto table = kernel.get<std::uint64_t>(module + l.symbols);
	if (!table || !*table)
		return;
	const auto symtab = kernel.get<std::uint64_t>(*table + l.symtab),
		   strtab = kernel.get<std::uint64_t>(*table + l.strtab),
		   typetab = kernel.get<std::uint64_t>(*table + l.typetab);
	const auto count = kernel.get<std::uint32_t>(*table + l.num_symtab);
	if (!symtab || !strtab || !typetab || !count || *count > kMostModuleSymbols)
		return;
	for (std::uint32_t i = 0; i < *count; i++) {
		const auto symbol = kernel.get<Elf64_Sym>(*symtab + i * sizeof(Elf64_Sym));
		const auto type = kernel.get<char>(*typetab + i);
		if (!symbol || !type)
			break;
		if (symbol->st_shndx == SHN_UNDEF || !symbol->st_name)
			continue;
		add_line(out.symbols, symbol->st_value, *type,
			 kernel.text(*strtab + symbol->st_name, kLongestName), out.name);
	}
}

std::vector<DeadModule> read_modules(KernelMemory &kernel, const ls_anchor &anchor,
				     std::uint64_t head)
{
	const ls_anchor_module_layout &l = anchor.module_layout;
	std::vector<DeadModule> out;
	std::set<std::uint64_t> seen;
	for (std::uint64_t node = anchor.module + l.list; out.size() < kMostModules;) {
		if (!seen.insert(node).second)
			break;
		const std::uint64_t module = node - l.list;
		const auto next = kernel.get<std::uint64_t>(node);
		if (!next)
			break;
		DeadModule m;
		m.name = kernel.text(module + l.name, std::min(l.name_bytes, 64u));
		if (node != head && plausible_name(m.name)) {
			m.text = kernel.get<std::uint64_t>(module + l.text).value_or(0);
			m.text_bytes = kernel.get<std::uint32_t>(module + l.text_bytes).value_or(0);
			m.build_id = find_build_id(
				kernel, kernel.get<std::uint64_t>(module + l.rodata).value_or(0),
				kernel.get<std::uint32_t>(module + l.rodata_bytes).value_or(0));
			if (l.btf)
				m.types = read_types(
					kernel,
					kernel.get<std::uint64_t>(module + l.btf).value_or(0),
					kernel.get<std::uint32_t>(module + l.btf_bytes)
						.value_or(0));
			module_symbols(kernel, l, module, m);
			out.push_back(std::move(m));
		}
		node = *next;
	}
	return out;
}

/// 16 bytes as "01234567-89ab-...".
std::string read_boot_id(KernelMemory &kernel, std::uint64_t at)
{
	std::string bytes(16, 0);
	/* Made when it is read first. */
	if (!at || !kernel.read(at, bytes.data(), bytes.size()) || !bytes[8])
		return {};
	std::string out = to_hex(bytes);
	for (const std::size_t place : {20, 16, 12, 8})
		out.insert(place, "-");
	return out;
}

} // namespace

std::map<std::string, std::uint64_t> addresses_of(const std::string &symbols,
						  const std::vector<std::string> &names)
{
	std::map<std::string, std::uint64_t> out;
	for (std::size_t at = 0; at < symbols.size();) {
		const std::size_t end = std::min(symbols.find('\n', at), symbols.size());
		const std::string_view line(symbols.data() + at, end - at);
		at = end + 1;
		constexpr std::size_t kName = 19; /* behind address and type */
		if (line.size() > kName &&
		    std::find(names.begin(), names.end(), line.substr(kName)) != names.end())
			out.emplace(line.substr(kName), parse_hex64(line.substr(0, 16)));
	}
	return out;
}

DeadKernel read_kernel(KernelMemory &kernel, const ls_anchor &anchor, const Description &about)
{
	DeadKernel out;
	out.symbols = kernel_symbols(kernel, about);
	out.build_id = about.value("BUILD-ID");
	auto at = addresses_of(out.symbols,
			       {"__start_BTF", "__stop_BTF", "modules", "sysctl_bootid"});
	if (at["__stop_BTF"] > at["__start_BTF"])
		out.types =
			read_types(kernel, at["__start_BTF"], at["__stop_BTF"] - at["__start_BTF"]);
	out.boot_id = read_boot_id(kernel, at["sysctl_bootid"]);
	out.modules = read_modules(kernel, anchor, at["modules"]);
	return out;
}

} // namespace lockscope::recover
