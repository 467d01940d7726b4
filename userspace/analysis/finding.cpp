// SPDX-License-Identifier: GPL-2.0
// Names and identity of findings.
#include "analysis/finding.h"

#include "util/text.h"

#include <algorithm>

namespace lockscope {

std::size_t canonical_start(const Model &model, const std::vector<ClassId> &classes)
{
	auto names_from = [&](std::size_t start) {
		std::vector<std::string> names;
		for (std::size_t i = 0; i < classes.size(); i++) {
			const auto &cls = model[classes[(start + i) % classes.size()]];
			names.push_back(cls.stable + '\t' + kind_name(cls.kind));
		}
		return names;
	};
	std::size_t best = 0;
	for (std::size_t start = 1; start < classes.size(); start++)
		if (names_from(start) < names_from(best))
			best = start;
	return best;
}

const char *name(Severity severity)
{
	return severity == Severity::Error     ? "error"
	       : severity == Severity::Warning ? "warning"
					       : "note";
}

const char *name(Confidence confidence)
{
	return confidence == Confidence::Confirmed  ? "confirmed"
	       : confidence == Confidence::Observed ? "observed"
						    : "possible";
}

const char *name(FindingKind kind)
{
	return ls_finding_name(static_cast<std::uint32_t>(kind));
}

std::optional<FindingKind> parse_kind(const std::string &text)
{
#define LS_ROW(symbol, value, enumerator, name, ...)                                               \
	if (text == name)                                                                          \
		return FindingKind::enumerator;
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
	return std::nullopt;
}

std::vector<std::string> kind_names()
{
	return {
#define LS_ROW(symbol, value, enumerator, name, ...) name,
		LS_FINDINGS(LS_ROW)
#undef LS_ROW
	};
}

Severity usual_severity(FindingKind kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, ...)                              \
	case FindingKind::enumerator:                                                              \
		return Severity::severity;
		LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return Severity::Error;
}

const char *title_words(FindingKind kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, title, ...)                \
	case FindingKind::enumerator:                                                              \
		return title;
		LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return nullptr;
}

const char *about(FindingKind kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, ...)                       \
	case FindingKind::enumerator:                                                              \
		return about;
		LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return "";
}

std::span<const FindingKind> finding_kinds()
{
	static constexpr FindingKind kinds[] = {
#define LS_ROW(symbol, value, enumerator, ...) FindingKind::enumerator,
		LS_FINDINGS(LS_ROW)
#undef LS_ROW
	};
	return kinds;
}

std::optional<Severity> parse_severity(const std::string &text)
{
	for (auto severity : {Severity::Note, Severity::Warning, Severity::Error})
		if (text == name(severity))
			return severity;
	return std::nullopt;
}

std::optional<Confidence> parse_confidence(const std::string &text)
{
	for (auto confidence : {Confidence::Possible, Confidence::Observed, Confidence::Confirmed})
		if (text == name(confidence))
			return confidence;
	return std::nullopt;
}

AccessSide first_access(const Model &model, std::size_t access)
{
	const auto &shown = model.accesses[access];
	AccessSide side{access, context_of(model, shown), shown.count, shown.stack, true, shown.cpu,
			{}};
	for (const auto &guard : shown.guards)
		side.locks.push_back(guard.instance);
	return side;
}

std::vector<CodeId> known_part(const AccessSide &side)
{
	return side.own_stack || side.stack.empty() ? side.stack
						    : std::vector<CodeId>{side.stack.front()};
}

bool Finding::hidden() const
{
	return std::any_of(filters.begin(), filters.end(),
			   [](const Filter &f) { return f.hidden; });
}

bool Finding::suppressed() const
{
	return std::any_of(filters.begin(), filters.end(),
			   [](const Filter &f) { return f.name == kSuppressed; });
}

std::vector<ClassId> Finding::locks() const
{
	std::vector<ClassId> out;
	for (ClassId cls : classes)
		if (!is_interrupt(cls))
			out.push_back(cls);
	return out;
}

const char *interrupt_name(ClassId cls)
{
	return cls == kHardirqClass ? "hardirq" : "softirq";
}

bool is_finding_id(std::string_view text)
{
	return text.size() == 16 && std::all_of(text.begin(), text.end(), [](char c) {
		       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
	       });
}

std::string fault_id(const Model &model, FindingKind kind, ClassId cls, const std::string &function)
{
	std::string text = name(kind);
	if (cls != kNoClass)
		text += '\n' + model[cls].stable + '\t' + kind_name(model[cls].kind);
	return hex64(stable_hash(text + "\n@" + function));
}

std::string finding_id(const Model &model, FindingKind kind, const std::vector<ClassId> &classes)
{
	std::string text = name(kind);
	const std::size_t start = classes.empty() ? 0 : canonical_start(model, classes);
	for (std::size_t i = 0; i < classes.size(); i++) {
		const auto &cls = model[classes[(start + i) % classes.size()]];
		text += '\n' + cls.stable + '\t' + kind_name(cls.kind);
	}
	return hex64(stable_hash(text));
}

/// " (role)" of a class's name, empty when it has none.
static std::string role_of(const std::string &name)
{
	const auto end = name.find(") struct ");
	const auto last = end != name.npos ? end : name.size() - (name.ends_with(')') ? 1 : 0);
	if (last == name.size())
		return {};
	const auto start = name.rfind(" (", last);
	return start == name.npos ? std::string{} : name.substr(start, last - start + 1);
}

std::string name_without_role(const LockClass &cls)
{
	std::string name = cls.name;
	if (const std::string role = role_of(name); !role.empty())
		name.erase(name.rfind(role), role.size());
	return name;
}

std::string short_name(const LockClass &cls)
{
	std::string out = cls.name;
	const std::string role = role_of(out);
	if (auto at = out.find(" struct "); at != out.npos)
		return out.substr(at + 8) + role;
	if (auto at = out.find(" @ "); at != out.npos && cls.origin == LS_ORIGIN_INIT)
		return out.substr(0, at) + role;
	/* Locks of a trace are of no module, and may have any name. */
	if (!cls.module.empty() &&
	    (cls.origin == LS_ORIGIN_STATIC || cls.origin == LS_ORIGIN_PERCPU))
		if (auto colon = out.find(':'); colon != out.npos && colon + 1 < out.size())
			out = out.substr(colon + 1);
	return out;
}

} // namespace lockscope
