// SPDX-License-Identifier: GPL-2.0
#include "recover/recover.h"

#include "recover/anchor.h"
#include "recover/classes.h"
#include "recover/printk.h"
#include "util/file.h"
#include "util/last_words.h"
#include "util/text.h"

#include <algorithm>
#include <filesystem>

namespace lockscope::recover {

namespace {

constexpr std::uint64_t kMostDescription = 65536;

std::uint64_t size_of(const PhysicalMemory &memory)
{
	std::uint64_t out = 0;
	for (const auto &range : memory.ranges())
		out += range.end - range.begin;
	return out;
}

Recovery recover_from(const PhysicalMemory &memory, const ls_anchor &anchor)
{
	KernelMemory kernel(memory, anchor.page_table, anchor.levels);
	Recovery out;
	Tables tables = read_tables(kernel, anchor, size_of(memory));
	const Description about(
		kernel.text(anchor.vmcoreinfo,
			    std::min<std::uint64_t>(anchor.vmcoreinfo_bytes, kMostDescription)));
	out.kernel = read_kernel(kernel, anchor, about);
	name_classes(tables, out.kernel);
	out.pending = take_pending(kernel, anchor, tables);
	out.death.contexts = held_at_death(kernel, anchor);
	out.death.messages = kernel_messages(kernel, about);
	out.death.cause = cause_of_death(out.death.messages);
	out.death.missing = std::move(tables.missing);
	if (out.kernel.symbols.empty())
		out.death.missing.push_back("the kernel's symbols: functions have no names");
	out.image = std::move(tables.image);
	return out;
}

/// A note section with a build id, as sysfs has it.
std::string build_id_note(const std::string &digits)
{
	std::string id;
	for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
		id += static_cast<char>(parse_hex64(digits.substr(i, 2)));
	std::string out{4, 0, 0, 0};
	out += std::string{static_cast<char>(id.size()), 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	return out + id;
}

} // namespace

Result<Recovery> recover(const std::string &path)
{
	auto memories = open_memory(path);
	if (!memories)
		return memories.error();
	Error none;
	for (const auto &memory : *memories) {
		auto found = recover(*memory, path);
		if (found)
			return found;
		if (none.what.empty())
			none = found.error();
	}
	return none;
}

Result<Recovery> recover(const PhysicalMemory &memory, const std::string &name)
{
	auto anchor = find_anchor(memory, name);
	if (!anchor)
		return anchor.error();
	return recover_from(memory, *anchor);
}

Status write_system(const DeadKernel &kernel, const std::string &folder)
{
	namespace fs = std::filesystem;
	std::error_code error;
	const auto put = [&](const std::string &name, const std::string &content) -> Status {
		fs::create_directories(fs::path(folder + "/" + name).parent_path(), error);
		return write_file(folder + "/" + name, content);
	};
	std::string symbols = kernel.symbols, modules;
	for (const auto &m : kernel.modules) {
		symbols += m.symbols;
		modules += m.name + " " + std::to_string(m.text_bytes) + " 1 - Live 0x" +
			   hex64(m.text) + "\n";
		if (!m.build_id.empty())
			LS_TRY_STATUS(put("sys/module/" + m.name + "/notes/.note.gnu.build-id",
					  build_id_note(m.build_id)));
		if (!m.types.empty())
			LS_TRY_STATUS(put("sys/kernel/btf/" + m.name, m.types));
	}
	LS_TRY_STATUS(put("proc/kallsyms", symbols));
	LS_TRY_STATUS(put("proc/modules", modules));
	if (!kernel.types.empty())
		LS_TRY_STATUS(put("sys/kernel/btf/vmlinux", kernel.types));
	if (!kernel.build_id.empty())
		LS_TRY_STATUS(put("sys/kernel/notes", build_id_note(kernel.build_id)));
	return success();
}

} // namespace lockscope::recover
