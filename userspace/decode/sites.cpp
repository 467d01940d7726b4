// SPDX-License-Identifier: GPL-2.0
#include "decode/sites.h"

#include "decode/prototypes.h"
#include "util/text.h"

#include <optional>
#include <string_view>

namespace lockscope {

namespace {

constexpr std::string_view kStruct = "struct ";

/// A parsed pattern.
struct Wanted {
	std::string module = "*"; ///< glob
	std::string name = {};	  ///< glob; empty: by types
	std::string type = {};
};

Result<Wanted> parse(const std::string &pattern)
{
	Wanted out;
	std::string rest = pattern;
	if (const auto colon = rest.find(':'); colon != rest.npos) {
		out.module = rest.substr(0, colon);
		rest = rest.substr(colon + 1);
	}
	if (rest.compare(0, kStruct.size(), kStruct) == 0)
		out.type = rest.substr(kStruct.size());
	else
		out.name = rest;
	if (out.module.empty() || (out.name.empty() && out.type.empty()))
		return usage_error("\"" + pattern + "\" names no functions",
				   "say FUNCTION, MODULE:FUNCTION or \"struct TYPE\"");
	return out;
}

std::string_view source_name(std::string_view name)
{
	return name.substr(0, name.find('.'));
}

bool same_code(const Function &a, const Function &b)
{
	return a.section == b.section && a.address == b.address;
}

} // namespace

std::size_t SiteList::sites() const
{
	std::size_t n = 0;
	for (const auto &function : functions)
		n += function.decoded.sites.size();
	return n;
}

std::uint32_t SiteList::unsupported(Unsupported why) const
{
	std::uint32_t n = 0;
	for (const auto &function : functions)
		n += function.decoded.count(why);
	return n;
}

Result<std::vector<Function>> select_functions(const CodeSource &code, const std::string &pattern,
					       const std::string &btf_dir)
{
	auto wanted = parse(pattern);
	if (!wanted)
		return wanted.error();
	std::optional<std::set<FunctionId>> takers;
	if (!wanted->type.empty()) {
		auto found = functions_taking(wanted->type, btf_dir);
		if (!found)
			return found.error();
		takers = std::move(*found);
	}
	std::vector<Function> out;
	for (const auto &function : code.functions()) {
		const std::string_view base = source_name(function.name);
		const bool fits = glob_matches(wanted->module, function.module) &&
				  (takers ? takers->count({function.module, std::string(base)}) > 0
					  : glob_matches(wanted->name, function.name) ||
						    glob_matches(wanted->name, base));
		if (fits && (out.empty() || !same_code(out.back(), function)))
			out.push_back(function);
	}
	if (out.empty())
		return usage_error("no function fits \"" + pattern + "\"",
				   "/proc/kallsyms lists the functions of loaded modules; what is "
				   "inlined everywhere is in none");
	return out;
}

Result<SiteList> list_sites(const CodeSource &code, const std::string &pattern,
			    const SiteOptions &options)
{
	auto functions = select_functions(code, pattern, options.btf_dir);
	if (!functions)
		return functions.error();
	SiteList out;
	for (auto &function : *functions) {
		auto bytes = code.read(function);
		if (!bytes) {
			out.unread.push_back(function.name);
			continue;
		}
		auto decoded = decode_function(*bytes, function.address, options.refused);
		out.functions.push_back({std::move(function), std::move(decoded)});
	}
	return out;
}

std::vector<ls_site> probe_sites(const SiteList &list)
{
	static_assert(kNoRegister == LS_BASE_NONE);
	std::vector<ls_site> out;
	for (const auto &function : list.functions) {
		for (const auto &site : function.decoded.sites) {
			const MemoryOperand &where = site.where;
			ls_site probe{};
			probe.ip = function.code.address + site.offset;
			probe.disp = where.disp;
			probe.base = where.base;
			if (where.rip_relative) {
				probe.base = LS_BASE_RIP;
				probe.disp += static_cast<std::int64_t>(probe.ip + site.length);
			}
			probe.index = where.index;
			probe.scale = where.scale;
			probe.percpu = where.segment == Segment::Gs;
			probe.size = site.size;
			probe.op = (site.op != AccessOp::Write ? LS_ACC_READ : 0) |
				   (site.op != AccessOp::Read ? LS_ACC_WRITE : 0) |
				   (site.atomic ? LS_ACC_ATOMIC : 0);
			out.push_back(probe);
		}
	}
	return out;
}

} // namespace lockscope
