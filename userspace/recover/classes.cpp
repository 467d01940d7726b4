// SPDX-License-Identifier: GPL-2.0
#include "recover/classes.h"

#include "log/log.h"
#include "symbolize/data_symbols.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>

namespace lockscope::recover {

namespace {

/// Name, module and kind: what classes of one name share.
using Named = std::tuple<std::string, std::string, std::uint32_t>;

/// Classes in the log.
struct Logged {
	explicit Logged(const std::vector<std::byte> &log)
	{
		LogDecoder decoder;
		std::vector<LogRecord> records;
		decoder.decode(log, records);
		for (const auto &record : records)
			if (const auto *r = std::get_if<ClassRecord>(&record)) {
				canonical[r->id] = r->canonical;
				ids.try_emplace({r->name, r->module, r->kind}, r->canonical);
			}
	}

	std::map<std::uint32_t, std::uint32_t> canonical;
	std::map<Named, std::uint32_t> ids;
};

bool unnamed(const Tables &tables, const Logged &logged, std::uint32_t id)
{
	const ls_class &c = tables.classes[id];
	return c.state == LS_CLASS_READY && c.origin == LS_ORIGIN_STATIC && c.kind < LS_NR_KINDS &&
	       !logged.canonical.count(id);
}

/// As name_static() of the module (kmod/out/names.c) makes it; empty when it is too long, where
/// that has a hash in it.
std::string static_name(const Location &at, std::uint64_t offset)
{
	std::array<char, 24> text{};
	if (offset)
		std::snprintf(text.data(), text.size(), "+%#llx",
			      static_cast<unsigned long long>(offset));
	std::string out = at.module == "vmlinux" ? "" : at.module + ":";
	out += at.function + text.data();
	return out.size() < LS_NAME_MAX ? out : "";
}

} // namespace

void name_classes(Tables &tables, const DeadKernel &kernel)
{
	Logged logged(tables.image.log);
	bool any = false;
	for (std::uint32_t id = 1; id < tables.classes.size() && !any; id++)
		any = unnamed(tables, logged, id);
	/* Symbols are many. */
	if (!any)
		return;
	std::string text = kernel.symbols;
	for (const auto &m : kernel.modules)
		text += m.symbols;
	const auto symbols = SymbolTable::parse(data_lines(text));
	if (!symbols)
		return;
	for (std::uint32_t id = 1; id < tables.classes.size(); id++) {
		if (!unnamed(tables, logged, id))
			continue;
		const ls_class &c = tables.classes[id];
		/* It expects return addresses. */
		const auto at = symbols->find(c.addr + 1);
		if (!at)
			continue;
		const std::uint64_t offset = at->offset - 1 + c.offset;
		const std::string name = static_name(*at, offset);
		if (name.empty() || at->module.size() >= LS_MODULE_LEN)
			continue;
		ls_rec_class r{};
		r.hdr = {sizeof(r), LS_REC_CLASS, 0};
		r.id = id;
		r.canonical = logged.ids.try_emplace({name, at->module, c.kind}, id).first->second;
		r.kind = c.kind;
		r.origin = c.origin;
		r.offset = c.offset;
		r.object_size = c.object_size;
		name.copy(r.name, sizeof(r.name) - 1);
		at->module.copy(r.module, sizeof(r.module) - 1);
		const auto *bytes = reinterpret_cast<const std::byte *>(&r);
		tables.image.log.insert(tables.image.log.end(), bytes, bytes + sizeof(r));
	}
	tables.image.info.log_bytes = tables.image.log.size();
}

} // namespace lockscope::recover
