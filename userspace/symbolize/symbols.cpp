// SPDX-License-Identifier: GPL-2.0
#include "symbolize/symbols.h"

#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

namespace lockscope {

namespace {

/* Limit of the distance from code to its symbol. */
constexpr std::uint64_t kMaxFunctionBytes = 1u << 20;
/* Addresses that stay unknown (BPF, trampolines) must not each cause a read: the table is read
 * again after this at the earliest, and for at most a twentieth of the time. */
constexpr auto kRereadAfter = std::chrono::seconds(2);
constexpr int kRest = 20;
/* Modules may come and go while the table is read for one address. */
constexpr int kMaxReads = 3;
constexpr std::uint64_t kPage = 4096;
/* Init code of a module: functions that run once. */
constexpr std::uint64_t kMaxStartBytes = 2 * kPage;

std::uint64_t take_hex(std::string_view &line)
{
	std::uint64_t value = 0;
	auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
	line.remove_prefix(static_cast<std::size_t>(end - line.data()));
	return error == std::errc{} ? value : 0;
}

} // namespace

Result<SymbolTable> SymbolTable::parse(const std::string &text)
{
	SymbolTable table;
	table.modules_.push_back("vmlinux");
	std::unordered_map<std::string_view, std::uint16_t> modules;
	bool any = false;

	/* Lines: "address type name[\t[module]]". */
	for (std::size_t at = 0; at < text.size();) {
		std::size_t end = text.find('\n', at);
		if (end == text.npos)
			end = text.size();
		std::string_view line(text.data() + at, end - at);
		at = end + 1;
		const std::uint64_t address = take_hex(line);
		if (line.size() < 4)
			continue;
		const char type = line[1];
		any = true;
		if (address == 0 || (type != 't' && type != 'T' && type != 'w' && type != 'W'))
			continue;
		line.remove_prefix(3);
		std::uint16_t module = 0;
		if (auto tab = line.find('\t'); tab != line.npos) {
			std::string_view name = line.substr(tab + 1);
			line = line.substr(0, tab);
			if (name.size() > 2 && name.front() == '[')
				name = name.substr(1, name.size() - 2);
			auto [known, added] = modules.try_emplace(
				name, static_cast<std::uint16_t>(table.modules_.size()));
			if (added)
				table.modules_.emplace_back(name);
			module = known->second;
		}
		table.symbols_.push_back(
			{address, static_cast<std::uint32_t>(table.names_.size()), module});
		table.names_.append(line).push_back('\0');
	}
	if (table.symbols_.empty())
		return Error{0, any ? "/proc/kallsyms hides addresses" : "/proc/kallsyms is empty",
			     any ? "run as root, and set kernel.kptr_restrict to 0 or 1"
				 : "functions need a kernel with CONFIG_KALLSYMS",
			     Exit::Environment};
	/* Aliases: the name that comes first in the table is kept. */
	std::stable_sort(table.symbols_.begin(), table.symbols_.end(),
			 [](const Symbol &a, const Symbol &b) { return a.address < b.address; });
	return table;
}

std::optional<Location> SymbolTable::find(std::uint64_t ip) const
{
	if (ip == 0)
		return std::nullopt;
	/* A return tracer replaces a caller's address by its own start. */
	for (auto at = std::lower_bound(
		     symbols_.begin(), symbols_.end(), ip,
		     [](const Symbol &s, std::uint64_t a) { return s.address < a; });
	     at != symbols_.end() && at->address == ip; ++at)
		for (const char *tracer : {"return_to_handler", "arch_rethook_trampoline"})
			if (names_.c_str() + at->name == std::string_view(tracer))
				return Location{tracer, 0, modules_[at->module], {}};
	auto next =
		std::upper_bound(symbols_.begin(), symbols_.end(), ip - 1,
				 [](std::uint64_t a, const Symbol &s) { return a < s.address; });
	if (next == symbols_.begin())
		return std::nullopt;
	const std::uint64_t start = std::prev(next)->address;
	if (ip - start > kMaxFunctionBytes)
		return std::nullopt;
	auto first =
		std::lower_bound(symbols_.begin(), next, start,
				 [](const Symbol &s, std::uint64_t a) { return s.address < a; });
	return Location{names_.c_str() + first->name, ip - start, modules_[first->module], {}};
}

std::optional<Location> SymbolTable::find(std::uint64_t ip, const Range &within) const
{
	auto at = std::upper_bound(symbols_.begin(), symbols_.end(), ip - 1,
				   [](std::uint64_t a, const Symbol &s) { return a < s.address; });
	/* Others are ftrace's records of code that was there before. */
	const Symbol *found = nullptr;
	while (at != symbols_.begin() && (--at)->address >= within.begin &&
	       (!found || at->address == found->address))
		if (modules_[at->module] == within.module)
			found = &*at;
	if (!found)
		return std::nullopt;
	return Location{names_.c_str() + found->name, ip - found->address, within.module, {}};
}

std::vector<SymbolTable::Range> SymbolTable::ranges(const std::string &name) const
{
	std::vector<Range> out;
	for (auto s = symbols_.begin(); s != symbols_.end(); ++s) {
		const std::string_view found = names_.c_str() + s->name;
		if (s->module != 0 || !found.starts_with(name) ||
		    (found.size() > name.size() && found[name.size()] != '.'))
			continue;
		const auto next = std::find_if(
			s, symbols_.end(), [&](const Symbol &n) { return n.address > s->address; });
		const std::uint64_t end = s->address + kMaxFunctionBytes;
		out.push_back({s->address,
			       next == symbols_.end() ? end : std::min(next->address, end),
			       modules_[0]});
	}
	return out;
}

std::vector<std::uint64_t> SymbolTable::starts(const std::string &name,
					       const std::string &module) const
{
	std::vector<std::uint64_t> out;
	for (const auto &s : symbols_)
		if (name == names_.c_str() + s.name && modules_[s.module] == module)
			out.push_back(s.address);
	return out;
}

void SymbolTable::forget_replaced(const std::vector<Range> &modules, bool packed)
{
	/* Address range by module number; the kernel has none, as it does not move. */
	std::vector<const Range *> places(modules_.size());
	for (const auto &range : modules)
		for (std::size_t i = 1; i < modules_.size(); i++)
			if (modules_[i] == range.module)
				places[i] = &range;
	const auto is_home = [&](const Symbol &s) {
		return places[s.module] && s.address >= places[s.module]->begin &&
		       s.address < places[s.module]->end;
	};
	/* A symbol between two that certainly belong to the module belongs to it. */
	std::vector<std::uint16_t> behind(symbols_.size());
	/* Init code ranges of each module, and which of them were newest: ftrace's records of
	 * a newer one are listed first, in the order of names_. */
	struct Start {
		std::uint64_t begin = 0, end = 0;
		std::uint32_t order = 0;
	};
	std::vector<Start> starts(modules_.size());
	for (const auto &s : symbols_) {
		if (!places[s.module] || is_home(s))
			continue;
		auto &start = starts[s.module];
		if (start.end == 0)
			start = {s.address & ~(kPage - 1), 0, s.name};
		start.end = (s.address | (kPage - 1)) + 1;
		start.order = std::min(start.order, s.name);
	}
	const auto is_older_start = [&](const Symbol &s) {
		return places[s.module] && !is_home(s) &&
		       std::any_of(starts.begin(), starts.end(), [&](const Start &newer) {
			       return newer.order < starts[s.module].order &&
				      s.address >= newer.begin && s.address < newer.end;
		       });
	};
	std::uint16_t near = 0;
	for (std::size_t i = symbols_.size(); i-- > 0;) {
		behind[i] = near;
		if (is_home(symbols_[i]))
			near = symbols_[i].module;
	}
	std::uint16_t before = 0;
	std::size_t kept = 0;
	for (std::size_t i = 0; i < symbols_.size(); i++) {
		const Symbol s = symbols_[i];
		const bool replaced = s.module && before && s.module != before &&
				      s.address < places[before]->end &&
				      (!packed || behind[i] == before);
		if (is_home(s))
			before = s.module;
		else if (replaced || is_older_start(s))
			continue;
		symbols_[kept++] = s;
	}
	symbols_.resize(kept);
}

std::vector<KernelSymbols::Range> KernelSymbols::read_modules() const
{
	std::vector<Range> ranges;
	const auto text = read_file(proc_ + "/modules");
	if (!text)
		return ranges;
	/* "name size users dependencies state address"; the rest is flags. The users change
	 * all the time. */
	for (const auto &line : split(*text, '\n')) {
		auto parts = split(line, ' ');
		if (parts.size() < 6 || parts[5].size() < 3)
			continue;
		const std::uint64_t begin = parse_hex64(std::string_view(parts[5]).substr(2));
		std::uint64_t size = 0;
		std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), size);
		ranges.push_back({begin, begin + size, parts[0]});
	}
	std::sort(ranges.begin(), ranges.end(),
		  [](const Range &a, const Range &b) { return a.begin < b.begin; });
	return ranges;
}

bool KernelSymbols::refresh()
{
	/* Modules first: one that is loaded in between is then noticed later. */
	auto ranges = read_modules();
	const auto begin = Clock::now();
	if (table_ && ranges == ranges_ && begin < read_again_)
		return false;
	auto text = read_file(proc_ + "/kallsyms");
	read_again_ = begin + kRereadAfter;
	if (!text)
		return false;
	auto table = SymbolTable::parse(*text);
	if (!table)
		return false;
	ranges_ = std::move(ranges);
	packed_ = ranges_.size() < 2 || std::adjacent_find(ranges_.begin(), ranges_.end(),
							   [](const Range &a, const Range &b) {
								   return a.end > b.begin;
							   }) != ranges_.end();
	table->forget_replaced(ranges_, packed_);
	table_ = std::move(*table);
	build_ids_.clear();
	const auto end = Clock::now();
	read_again_ = std::max(read_again_, end + (end - begin) * kRest);
	return true;
}

std::vector<SymbolTable::Range> KernelSymbols::ranges(const std::string &name)
{
	if (!table_ && !refresh())
		return {};
	return table_->ranges(name);
}

std::vector<std::uint64_t> KernelSymbols::starts(const std::string &name, const std::string &module)
{
	if (!table_ || read_modules() != ranges_) {
		read_again_ = {};
		refresh();
	}
	return table_ ? table_->starts(name, module) : std::vector<std::uint64_t>{};
}

std::size_t KernelSymbols::generation()
{
	std::string all;
	for (const auto &range : read_modules())
		all += range.module + hex64(range.begin);
	return stable_hash(all);
}

std::string KernelSymbols::build_id(const std::string &module)
{
	auto [at, added] = build_ids_.try_emplace(module);
	if (added) {
		auto notes = read_file(
			sys_ + (module == "vmlinux"
					? "/kernel/notes"
					: "/module/" + module + "/notes/.note.gnu.build-id"));
		if (notes)
			at->second = build_id_from_notes(*notes);
	}
	return at->second;
}

void KernelSymbols::module_changed(const ModuleRecord &record)
{
	/* Addresses in the code of an unloaded module may still be looked up. */
	if (record.state != LS_MODULE_COMES)
		return;
	for (const auto &[begin, end] :
	     {std::pair(record.text, record.text_end), std::pair(record.init, record.init_end)}) {
		if (begin == end)
			continue;
		std::erase_if(areas_, [b = begin, e = end](const Range &old) {
			return old.begin < e && b < old.end;
		});
		areas_.push_back({begin, end, record.module});
	}
}

/// The module of the byte before @ip, if the source has reported it.
std::optional<KernelSymbols::Range> KernelSymbols::owner(std::uint64_t ip) const
{
	for (const auto &area : areas_)
		if (ip > area.begin && ip <= area.end)
			return area;
	return std::nullopt;
}

/// Does the symbol before @ip belong to other code?
bool KernelSymbols::misplaced(const Location &found, std::uint64_t ip) const
{
	const std::uint64_t start = ip - found.offset;
	/* The code of a reported module is completely known. */
	if (std::any_of(areas_.begin(), areas_.end(),
			[&](const Range &area) { return area.module == found.module; }))
		return true;
	/*
	 * Sizes include data. If code is separate from it, close to that of other modules,
	 * they do not show where a module's code ends: then one that is missing in the table
	 * is recognised by its present start.
	 */
	const auto wrong = [&](const Range &r) {
		const bool here = ip > r.begin && ip <= r.end;
		return r.module == found.module ? start >= r.begin && start < r.end && !here
						: here && start < r.begin;
	};
	if (std::any_of(ranges_.begin(), ranges_.end(), wrong))
		return true;
	if (found.module == "vmlinux")
		return false;
	const bool home = std::any_of(ranges_.begin(), ranges_.end(), [&](const Range &r) {
		return r.module == found.module && start >= r.begin && start < r.end;
	});
	if (home && !packed_)
		return false;
	/* Init code: replaced by that of others. */
	const auto replaced = [&](const Range &r) {
		return !packed_ && r.module != found.module && ip > r.begin && ip <= r.end;
	};
	const auto now = read_modules();
	return (!home && found.offset > kMaxStartBytes) ||
	       std::any_of(now.begin(), now.end(),
			   [&](const Range &r) { return wrong(r) || replaced(r); });
}

std::optional<Location> KernelSymbols::find(std::uint64_t ip)
{
	if (!table_ && !refresh())
		return std::nullopt;
	for (int reads = 0;; reads++) {
		/*
		 * A module that was loaded since, or replaced another one, is not in an old
		 * table: the symbol before it is the last one of another module. Init code is
		 * outside of its module's range, including its symbols.
		 */
		const auto area = owner(ip);
		auto found = area ? table_->find(ip, *area) : table_->find(ip);
		if (found && (area || !misplaced(*found, ip))) {
			found->build_id = build_id(found->module);
			return found;
		}
		if (reads == kMaxReads || !refresh())
			return std::nullopt;
	}
}

} // namespace lockscope
