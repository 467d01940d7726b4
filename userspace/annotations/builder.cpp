// SPDX-License-Identifier: GPL-2.0
#include "annotations/builder.h"

#include <algorithm>

namespace lockscope::annotations {

namespace {

/* Functions that an annotated acquire calls in a kernel without lockdep. */
const char *const kAcquires[] = {
	"mutex_lock",
	"mutex_lock_interruptible",
	"mutex_lock_killable",
	"mutex_lock_io",
	"down_read",
	"down_read_interruptible",
	"down_read_killable",
	"down_write",
	"down_write_killable",
	"_raw_spin_lock",
	"_raw_spin_lock_irq",
	"_raw_spin_lock_irqsave",
	"_raw_spin_lock_bh",
	"_raw_read_lock",
	"_raw_read_lock_irq",
	"_raw_read_lock_irqsave",
	"_raw_read_lock_bh",
	"_raw_write_lock",
	"_raw_write_lock_irq",
	"_raw_write_lock_irqsave",
	"_raw_write_lock_bh",
	"rt_mutex_lock",
	"rt_mutex_lock_interruptible",
	"rt_mutex_lock_killable",
	"ldsem_down_read",
	"ldsem_down_write",
};

std::string in_hex(std::uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	std::string out;
	do
		out.insert(out.begin(), digits[value & 15]);
	while (value >>= 4);
	return out;
}

} // namespace

Builder::Builder(const SourceTree &source)
	: source_(source), fates_(source.sites().size(), Fate::CompiledOut),
	  places_(source.sites().size()), targets_(source.carriers())
{
	targets_.insert(std::begin(kAcquires), std::end(kAcquires));
}

void Builder::raise(std::size_t site, Fate fate, const std::string &place)
{
	static const int rank[kFates] = {4, 3, 0, 1, 2};
	if (rank[static_cast<int>(fate)] > rank[static_cast<int>(fates_[site])])
		fates_[site] = fate;
	if (!place.empty())
		places_[site].push_back(place);
}

/*
 * From the innermost function outwards: an annotation with parameters of its function has the
 * values that the caller passes, as long as that function is inlined.
 */
bool Builder::resolve(const CodeCall &call, Meaning &out) const
{
	for (std::size_t i = 0; i < call.levels.size(); i++) {
		const Level &level = call.levels[i];
		const auto file = source_.file(level.file);
		if (!file)
			return false;
		const Site *site = source_.acquire_at(*file, level.line, level.column);
		const Function *function = source_.function_at(*file, level.line);
		if (!site) {
			/* A function whose name is the annotation: foo_nested() without
			 * lockdep calls foo(). */
			if (i > 0 && !source_.carries(*file, call.levels[i - 1].function))
				return false;
			if (out.site || !level.inlined ||
			    source_.own(*file, level.function).empty())
				return false;
			continue;
		}
		std::optional<std::string> text;
		if (i == 0) {
			text = out.via.empty() ? source_.meaning(*site)
					       : source_.in_caller(*site, call.target, out.via);
		} else {
			const std::string &inner = call.levels[i - 1].function;
			const auto own = source_.own(*file, inner);
			if (out.site)
				text = source_.in_caller(*site, inner, out.text);
			else if (own.size() == 1)
				text = source_.in_caller(*site, inner, own[0]);
		}
		if (!text)
			return out.site != nullptr;
		out.site = site;
		out.text = *text;
		out.passed.push_back(static_cast<std::size_t>(site - source_.sites().data()));
		if (!level.inlined || !function ||
		    !mentions(*text, function->definition.parameters))
			return true;
	}
	return out.site != nullptr;
}

std::vector<Builder::Meaning> Builder::meanings(const CodeCall &call) const
{
	std::vector<Meaning> out;
	Meaning meaning;
	if (call.levels.empty())
		return out;
	const auto file = source_.file(call.levels[0].file);
	const auto several = file ? source_.own(*file, call.target) : std::vector<std::string>{};
	if (several.size() > 1) {
		for (const auto &text : several) {
			meaning = {};
			meaning.via = text;
			if (resolve(call, meaning))
				out.push_back(meaning);
		}
	} else if (resolve(call, meaning)) {
		out.push_back(std::move(meaning));
	}
	return out;
}

std::uint32_t Builder::note_of(const Site &site, const std::string &text)
{
	const auto &function = source_.functions()[site.function];
	Note note{site.says,
		  site.call.callee,
		  text,
		  function.definition.name,
		  source_.file(site.file),
		  site.call.line};
	const std::string key =
		note.file + ':' + std::to_string(note.line) + ' ' + note.callee + ' ' + note.text;
	auto [at, added] =
		known_notes_.try_emplace(key, static_cast<std::uint32_t>(table_.notes.size()));
	if (added)
		table_.notes.push_back(std::move(note));
	return at->second;
}

void Builder::add_call(const std::string &module, ModuleNotes &to, const CodeCall &call,
		       const Meaning &meaning)
{
	long subclass = kNotConstant;
	if (meaning.site->says == Says::Subclass)
		if (auto value = source_.evaluate(meaning.site->file, meaning.text);
		    value && *value >= 0)
			subclass = *value;
	const bool plain = meaning.site->says == Says::Subclass && subclass == 0;
	const Fate fate = call.ambiguous ? Fate::Ambiguous : plain ? Fate::Plain : Fate::InTable;
	std::string place = module + ' ' + call.symbol + "+0x" + in_hex(call.offset);
	if (meaning.site->says == Says::NestLock)
		place += " nest lock " + meaning.text;
	else if (subclass == kNotConstant)
		place += " subclass by " + meaning.text;
	else
		place += " subclass " + std::to_string(subclass);
	if (call.jump)
		place += " (jump)";
	for (auto site : meaning.passed)
		raise(site, fate, place);
	/* Plain acquires need no entry; except in a function that passes its callers' subclass
	 * on, where a 0 from the callers has to be known. */
	if (fate != Fate::InTable && (fate != Fate::Plain || source_.direct(*meaning.site)))
		return;
	auto &there = to.calls[{call.symbol, call.offset}];
	AnnotatedCall said{note_of(*meaning.site, meaning.text), subclass, meaning.via};
	if (std::find(there.begin(), there.end(), said) == there.end())
		there.push_back(std::move(said));
}

void Builder::add(const std::string &module, Binary &binary)
{
	ModuleNotes &to = table_.modules[module];
	const std::string build_id = binary.build_id().substr(0, kIdDigits);
	if (to.build_id != build_id)
		to = {build_id, {}, {}};
	std::map<std::string, Meaning> jumps; /* functions that end with a jump to the acquire */
	for (const auto &call : binary.calls(targets_)) {
		for (const auto &meaning : meanings(call)) {
			add_call(module, to, call, meaning);
			if (call.jump)
				jumps[call.symbol] = meaning;
		}
	}
	/* Such an acquire returns to the function's caller. */
	std::set<std::string> names;
	for (const auto &[name, meaning] : jumps)
		if (targets_.count(name) == 0)
			names.insert(name);
	if (!names.empty())
		for (const auto &call : binary.calls(names))
			if (!call.jump)
				add_call(module, to, call, jumps[call.target]);

	std::map<std::string, std::set<std::uint32_t>> said;
	binary.functions(
		[&](const std::string &path, std::uint32_t line) {
			const auto file = source_.file(path);
			return file && source_.declared_at(*file, line);
		},
		[&](const CodeFunction &code) {
			const Function *function =
				source_.declared_at(*source_.file(code.file), code.line);
			for (auto i : function->sites) {
				const Site &site = source_.sites()[i];
				if (site.says <= Says::NestLock) {
					raise(i, Fate::NoCall, {});
					continue;
				}
				if (fates_[i] != Fate::InTable || places_[i].size() < 3)
					raise(i, Fate::InTable, module + ' ' + code.symbol);
				said[code.symbol].insert(
					note_of(site, source_.meaning(site).value_or("")));
			}
		});
	for (const auto &[symbol, notes] : said)
		to.in_function[symbol].assign(notes.begin(), notes.end());
}

/*
 * A compiler merges two calls that only differ in lockdep's arguments, and keeps one of their
 * lines. Then neither is known.
 */
void Builder::doubt_merged()
{
	std::set<std::uint32_t> doubtful;
	for (const auto &function : source_.functions()) {
		for (auto lost : function.sites) {
			const Site &gone = source_.sites()[lost];
			if (fates_[lost] != Fate::NoCall || gone.says != Says::Subclass)
				continue;
			for (std::uint32_t i = 0; i < table_.notes.size(); i++) {
				const Note &note = table_.notes[i];
				if (note.says == Says::Subclass &&
				    note.callee == gone.call.callee &&
				    note.function == function.definition.name &&
				    note.file == source_.file(function.file))
					doubtful.insert(i);
			}
		}
	}
	for (auto &[module, of] : table_.modules)
		for (auto &[place, calls] : of.calls)
			for (auto &call : calls)
				if (doubtful.count(call.note))
					call.subclass = kNotConstant;
}

Table Builder::take(const std::string &release)
{
	doubt_merged();
	table_.release = release;
	return std::move(table_);
}

} // namespace lockscope::annotations
