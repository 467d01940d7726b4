// SPDX-License-Identifier: GPL-2.0
#include "annotations/source.h"

#include "annotations/evaluate.h"
#include "util/file.h"

#include <algorithm>

namespace lockscope::annotations {

namespace {

/// For constants made of others; two headers may define them by each other.
constexpr int kMostDepth = 16;
/// Wrappers of wrappers.
constexpr int kMostRounds = 16;
constexpr std::size_t kMostTexts = 4;
constexpr std::size_t kLongestText = 120;

/// A sequence count is no lock, and might_lock() acquires none.
bool no_lock(std::string_view name)
{
	return name.find("seqcount") != name.npos || name.find("seqlock") != name.npos ||
	       name.starts_with("might_");
}

bool ends_nested(std::string_view name)
{
	return (name.ends_with("_nested") || name.ends_with("_nest_lock")) && !no_lock(name);
}

bool sets_class(std::string_view name)
{
	return name.starts_with("lockdep_set_class") || name == "lockdep_set_subclass" ||
	       name == "lockdep_set_novalidate_class" || name == "lockdep_set_lock_cmp_fn";
}

bool asserts_held(std::string_view name)
{
	return name.starts_with("lockdep_assert_held");
}

/// With lockdep these also disable all interrupts of the CPU, without it only the line.
bool masks_line(std::string_view name)
{
	return name == "disable_irq_lockdep" || name.starts_with("disable_irq_nosync_lockdep");
}

/// Files that implement the primitives: what they pass on is no annotation.
bool of_lockdep(const std::string &file)
{
	static const char *const files[] = {"include/linux/lockdep.h",
					    "include/linux/mutex.h",
					    "include/linux/rwsem.h",
					    "include/linux/rwlock.h",
					    "include/linux/rwlock_rt.h",
					    "include/linux/rwlock_api_smp.h",
					    "include/linux/spinlock.h",
					    "include/linux/spinlock_rt.h",
					    "include/linux/spinlock_api_smp.h",
					    "include/linux/spinlock_api_up.h",
					    "include/linux/rtmutex.h",
					    "include/linux/seqlock.h",
					    "include/linux/local_lock_internal.h",
					    "include/linux/ww_mutex.h"};
	return file.starts_with("kernel/locking/") ||
	       std::find(std::begin(files), std::end(files), file) != std::end(files);
}

} // namespace

std::optional<std::size_t> SourceTree::file(const std::string &name) const
{
	auto at = by_name_.find(name);
	return at == by_name_.end() ? std::nullopt : std::optional(at->second);
}

/* A header outside the include directories is only visible to its neighbours. */
bool SourceTree::visible(std::size_t header, std::size_t user) const
{
	if (header >= files_.size())
		return true;
	const std::string &name = files_[header];
	if (!name.ends_with(".h") || name.starts_with("include/") ||
	    name.find("/include/") != name.npos)
		return true;
	const auto first = name.find('/');
	const auto second = name.find('/', first == name.npos ? first : first + 1);
	return second == name.npos || files_[user].starts_with(name.substr(0, second + 1));
}

const SourceTree::Carrier *SourceTree::carrier(std::size_t file, const std::string &name) const
{
	auto at = carriers_.find(name);
	if (at == carriers_.end())
		return nullptr;
	const Carrier *global = nullptr;
	for (const auto &one : at->second) {
		if (one.file == file)
			return &one;
		if (!one.local && visible(one.file, file) &&
		    (!global || (global->texts.empty() && !one.texts.empty())))
			global = &one;
	}
	return global;
}

bool SourceTree::carries(std::size_t file, const std::string &name) const
{
	return carrier(file, name) != nullptr;
}

std::set<std::string> SourceTree::carriers() const
{
	std::set<std::string> out;
	for (const auto &[name, all] : carriers_)
		for (const auto &one : all)
			if (one.says <= Says::NestLock)
				out.insert(name);
	return out;
}

/* Does @text depend on the caller only? Not if it reads an object. */
bool SourceTree::passes_on(std::size_t file, Says says, const std::string &text,
			   const std::vector<std::string> &parameters) const
{
	if (text.size() > kLongestText || !mentions(text, parameters))
		return false;
	if (says == Says::NestLock)
		return std::find(parameters.begin(), parameters.end(), text) != parameters.end();
	return evaluate(file, substitute(text, parameters,
					 std::vector<std::string>(parameters.size(), "1")))
		.has_value();
}

/*
 * A function with a "subclass" or nest lock parameter, by name and declaration, one that
 * passes a parameter on to such a function, and a macro that uses one.
 */
bool SourceTree::add_carriers(std::size_t file, const FileContent &content)
{
	bool added = false;
	for (const auto &definition : content.definitions) {
		/* In the primitives' own files mutex_lock() is mutex_lock_nested(). */
		if (of_lockdep(files_[file]) && !ends_nested(definition.name))
			continue;
		Carrier carrier;
		carrier.file = file;
		carrier.local =
			(definition.is_static || definition.macro) && files_[file].ends_with(".c");
		carrier.macro = definition.macro;
		carrier.parameters = definition.parameters;
		bool is_one = false, itself = false;
		if (ends_nested(definition.name))
			for (const auto &parameter : definition.parameters) {
				/* btrfs_tree_lock_nested() has a "nest", which is a subclass. */
				const bool nest = definition.name.ends_with("_nest_lock");
				if (nest ? parameter != "nest_lock" && parameter != "nest"
					 : parameter != "subclass" && parameter != "_subclass")
					continue;
				carrier.texts = {parameter};
				carrier.says = nest ? Says::NestLock : Says::Subclass;
				carrier.seed = is_one = true;
			}
		/* The implementation of primitives has no further annotations. */
		for (const auto &call : is_one ? std::vector<Call>{} : definition.calls) {
			const Carrier *inner = this->carrier(file, call.callee);
			if (!inner || (definition.macro && call.callee == definition.name))
				continue;
			if (definition.macro) {
				carrier.calls.push_back(call);
				carrier.says = inner->says;
				is_one = true;
				continue;
			}
			if (inner->says > Says::NestLock)
				continue;
			/* Its own annotation takes precedence over what it passes on:
			 * recursion between functions would not end. */
			const Site site{file, 0, call, inner->says};
			const bool now = direct(site);
			if (itself && !now)
				continue;
			std::vector<std::string> said = own(file, call.callee);
			for (auto &text : said)
				text = in_caller(site, call.callee, text).value_or("");
			if (inner->macro)
				said = {meaning(site).value_or("")};
			for (const auto &text : said) {
				if (!passes_on(file, inner->says, text, definition.parameters))
					continue;
				if (now && !itself)
					carrier.texts.clear();
				itself |= now;
				carrier.says = inner->says;
				is_one = true;
				if (std::find(carrier.texts.begin(), carrier.texts.end(), text) ==
					    carrier.texts.end() &&
				    carrier.texts.size() < kMostTexts)
					carrier.texts.push_back(text);
			}
		}
		if (!is_one)
			continue;
		auto &known = carriers_[definition.name];
		auto old = std::find_if(known.begin(), known.end(), [&](const Carrier &one) {
			return one.file == file && one.macro == definition.macro;
		});
		if (old == known.end()) {
			known.push_back(std::move(carrier));
			added = true;
		} else if (!old->seed && (old->texts != carrier.texts ||
					  old->calls.size() != carrier.calls.size())) {
			*old = std::move(carrier);
			added = true;
		}
	}
	return added;
}

SourceTree::SourceTree(const std::string &root, const std::vector<std::string> &files)
{
	for (const auto &name : files) {
		auto text = read_file(name.starts_with("/") ? name : root + "/" + name);
		if (!text) {
			missing_++;
			continue;
		}
		by_name_[name] = files_.size();
		files_.push_back(name);
		texts_.push_back(std::move(*text));
	}
	/* Primitives of lockdep that need no definition. */
	for (const char *name :
	     {"lockdep_set_class", "lockdep_set_class_and_name", "lockdep_set_class_and_subclass",
	      "lockdep_set_subclass", "lockdep_set_novalidate_class", "lockdep_set_lock_cmp_fn",
	      "lockdep_assert_held", "lockdep_assert_held_write", "lockdep_assert_held_read",
	      "lockdep_assert_held_once", "lockdep_assert_held_exclusive", "disable_irq_lockdep",
	      "disable_irq_nosync_lockdep", "disable_irq_nosync_lockdep_irqsave"}) {
		Carrier carrier;
		carrier.file = ~std::size_t{0};
		carrier.says = sets_class(name)	  ? Says::Class
			       : masks_line(name) ? Says::IrqLine
						  : Says::Held;
		carriers_[name].push_back(carrier);
	}
	const auto wanted = [this](std::string_view name) {
		return ends_nested(name) || sets_class(name) || asserts_held(name) ||
		       masks_line(name) || carriers_.count(std::string(name)) != 0;
	};
	std::vector<FileContent> content(files_.size());
	for (std::size_t i = 0; i < files_.size(); i++)
		for (auto &constant : scan(texts_[i], wanted).constants)
			constants_[constant.name].push_back({i, std::move(constant)});
	/* Carriers found in one round are searched for in the next one. */
	bool added = true;
	for (int round = 0; added && round < kMostRounds; round++) {
		added = false;
		for (std::size_t i = 0; i < files_.size(); i++) {
			content[i] = scan(texts_[i], wanted);
			content[i].constants.clear();
			added |= add_carriers(i, content[i]);
		}
	}
	texts_.clear();
	in_file_.resize(files_.size());
	for (std::size_t i = 0; i < files_.size(); i++) {
		if (of_lockdep(files_[i]))
			continue;
		for (auto &definition : content[i].definitions) {
			Function function{i, definition, {}};
			for (const auto &call : definition.calls) {
				const Carrier *of = carrier(i, call.callee);
				if (!of)
					continue;
				function.sites.push_back(sites_.size());
				sites_.push_back({i, functions_.size(), call, of->says});
			}
			in_file_[i].push_back(functions_.size());
			functions_.push_back(std::move(function));
		}
	}
}

const Function *SourceTree::function_at(std::size_t file, std::uint32_t line) const
{
	for (auto i : in_file_[file]) {
		const auto &at = functions_[i].definition;
		if (!at.macro && at.body && at.line <= line && line <= at.last_line)
			return &functions_[i];
	}
	return nullptr;
}

const Function *SourceTree::declared_at(std::size_t file, std::uint32_t line) const
{
	for (auto i : in_file_[file])
		if (const auto &at = functions_[i].definition;
		    !at.macro && at.body && at.line == line)
			return &functions_[i];
	return nullptr;
}

const Site *SourceTree::acquire_at(std::size_t file, std::uint32_t line, std::uint32_t column) const
{
	const Function *function = function_at(file, line);
	if (!function)
		return nullptr;
	const Site *found = nullptr;
	bool several = false;
	for (auto i : function->sites) {
		const auto &site = sites_[i];
		if (site.says > Says::NestLock || line < site.call.line ||
		    line > site.call.last_line)
			continue;
		if (site.call.line == line && site.call.column == column)
			return &site;
		several |= found != nullptr;
		found = &site;
	}
	return several ? nullptr : found;
}

bool SourceTree::expand(std::size_t file, const Call &call, const std::string &name,
			std::vector<std::string> &arguments, int depth) const
{
	const Carrier *of = carrier(file, call.callee);
	if (call.callee == name && (!of || !of->macro || !of->texts.empty())) {
		arguments = call.arguments;
		return true;
	}
	if (!of || !of->macro || depth > 8)
		return false;
	for (const auto &inner : of->calls) {
		Call with = inner;
		for (auto &argument : with.arguments)
			argument = substitute(argument, of->parameters, call.arguments);
		if (expand(file, with, name, arguments, depth + 1))
			return true;
	}
	return false;
}

std::optional<std::string> SourceTree::meaning(const Site &site) const
{
	Call call = site.call;
	for (int depth = 0; depth < 8; depth++) {
		const Carrier *of = carrier(site.file, call.callee);
		if (!of)
			return std::nullopt;
		if (of->says > Says::NestLock) {
			std::string all;
			for (const auto &argument : call.arguments)
				all += (all.empty() ? "" : ", ") + argument;
			if (of->calls.empty())
				return all;
		} else if (!of->texts.empty()) {
			return of->texts.size() == 1
				       ? std::optional(substitute(of->texts[0], of->parameters,
								  call.arguments))
				       : std::nullopt;
		}
		/* A macro: use its first call. */
		if (of->calls.empty())
			return std::nullopt;
		Call inner = of->calls.front();
		for (auto &argument : inner.arguments)
			argument = substitute(argument, of->parameters, call.arguments);
		call = inner;
	}
	return std::nullopt;
}

std::optional<std::string> SourceTree::in_caller(const Site &site, const std::string &name,
						 const std::string &text) const
{
	const Carrier *of = carrier(site.file, name);
	std::vector<std::string> arguments;
	if (!of || !expand(site.file, site.call, name, arguments))
		return std::nullopt;
	return substitute(text, of->parameters, arguments);
}

std::vector<std::string> SourceTree::own(std::size_t file, const std::string &name) const
{
	const Carrier *of = carrier(file, name);
	return of ? of->texts : std::vector<std::string>{};
}

bool SourceTree::direct(const Site &site) const
{
	std::string callee = site.call.callee;
	for (int depth = 0; depth < 8; depth++) {
		const Carrier *of = carrier(site.file, callee);
		if (!of || of->seed || of->says > Says::NestLock)
			return true;
		if (!of->macro || of->calls.empty())
			return false;
		callee = of->calls.front().callee;
	}
	return false;
}

std::optional<long> SourceTree::evaluate(std::size_t file, const std::string &text, int depth) const
{
	if (depth > kMostDepth)
		return std::nullopt;
	return annotations::evaluate(
		text,
		[&](const std::string &name,
		    const std::vector<std::string> &arguments) -> std::optional<long> {
			auto at = constants_.find(name);
			if (at == constants_.end())
				return std::nullopt;
			/* A definition in the same file takes precedence; those in others have to agree. */
			std::optional<long> found;
			for (bool own : {true, false}) {
				for (const auto &value : at->second) {
					if (own && value.file != file)
						continue;
					const auto &constant = value.constant;
					std::optional<long> now;
					if (constant.parameters.size() != arguments.size())
						continue;
					if (!constant.text.empty())
						now = constant.text == name
							      ? std::nullopt
							      : evaluate(
									value.file,
									substitute(
										constant.text,
										constant.parameters,
										arguments),
									depth + 1);
					else if (constant.after.empty())
						now = 0;
					else if (auto before = evaluate(value.file, constant.after,
									depth + 1))
						now = *before + 1;
					if (!now)
						continue;
					if (found && *found != *now)
						return std::nullopt;
					found = now;
				}
				if (found)
					return found;
			}
			return found;
		});
}

} // namespace lockscope::annotations
