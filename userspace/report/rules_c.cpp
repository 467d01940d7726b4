// SPDX-License-Identifier: GPL-2.0
// Inferred rules as comments for a header.
#include "report/rules.h"

#include "util/text.h"

#include <map>
#include <set>

namespace lockscope {

namespace {

constexpr std::size_t kColumns = 72; ///< of a member list, without its indent

/// "self.i_lock" -> "i_lock", "via.i_sb.s_lock" -> "i_sb->s_lock".
std::string in_c(const std::string &term)
{
	for (const char *prefix : {"self.", "global."})
		if (term.rfind(prefix, 0) == 0)
			return term.substr(std::string(prefix).size());
	if (term.rfind("via.", 0) == 0) {
		/* In a longer path it is not known which member is the pointer. */
		const auto dot = term.find('.', 4);
		return dot == term.npos || term.find('.', dot + 1) != term.npos
			       ? term.substr(4)
			       : term.substr(4, dot - 4) + "->" + term.substr(dot + 1);
	}
	/* The member name, as other comments name locks: "journal_s.j_list_lock". */
	if (term.rfind("other.", 0) == 0)
		return "the lock " + term.substr(6);
	return term == kRcu ? "RCU" : term;
}

std::string in_c(const Hypothesis &guard)
{
	std::vector<std::string> parts;
	for (const auto &term : guard.terms)
		parts.push_back(in_c(term));
	return join(parts, guard.all ? " and " : " or ");
}

/// Text of a rule and its members, in the order of the type.
using Said = std::vector<std::pair<std::string, std::vector<std::string>>>;

void say(Said &said, const std::string &what, const std::string &member)
{
	for (auto &[head, members] : said)
		if (head == what) {
			members.push_back(member);
			return;
		}
	said.push_back({what, {member}});
}

std::string heading(const Rule &rule)
{
	if (rule.guard())
		return "Protected by " + in_c(*rule.guard()) + ":";
	if (const auto *guard = rule.believed())
		return "Accessed with " + in_c(*guard) + " held, of which object is not known:";
	return rule.verdict == RuleVerdict::NoLock ? "Needs no lock, " + rule.why + ":" : "";
}

std::string comment(const std::string &title, const Said &said)
{
	std::string out = "/*\n * " + title + "\n";
	for (const auto &[what, members] : said) {
		out += " *\n * " + what + "\n";
		std::string line;
		for (std::size_t i = 0; i < members.size(); i++) {
			const std::string word = members[i] + (i + 1 < members.size() ? "," : "");
			if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
				out += " *\t" + line + "\n";
				line.clear();
			}
			line += (line.empty() ? "" : " ") + word;
		}
		out += " *\t" + line + "\n";
	}
	return out + " */\n";
}

} // namespace

std::string c_rules(const Model &model, const std::vector<Rule> &rules)
{
	std::set<std::string> releases;
	for (const auto &run : model.runs)
		releases.insert(run.release);
	const std::string seen = "seen in " + join({releases.begin(), releases.end()}, ", ") +
				 ", " + counted(model.runs.size(), "run");
	struct Group {
		std::string title;
		Said said;
	};
	std::vector<std::pair<std::string, Group>> groups;
	for (std::size_t i = 0; i < rules.size(); i++) {
		const Rule &rule = rules[i];
		const std::string what = heading(rule);
		if (what.empty())
			continue;
		const bool member = rule.of_type();
		const std::string owner = member ? rule.type : "";
		if (groups.empty() || groups.back().first != owner)
			groups.push_back({owner,
					  {(member ? "Locking of " + rule.type
						   : std::string("Locking of variables")) +
						   ", inferred by LockScope (" + seen + ")",
					   {}}});
		/* Mentioned once if reads and writes have the same rule. */
		auto twin = [&](std::size_t other) {
			return other < rules.size() &&
			       rules[other].variable.stable == rule.variable.stable &&
			       heading(rules[other]) == what;
		};
		if (i > 0 && twin(i - 1))
			continue;
		std::string text =
			member && !rule.member.empty() ? rule.member : rule.variable.brief;
		if (rule.kind != AccessKind::Any && !twin(i + 1))
			text += std::string(" (") + name(rule.kind) + ")";
		say(groups.back().second.said, what, text);
	}
	std::string out;
	for (const auto &[owner, group] : groups)
		out += (out.empty() ? "" : "\n") + comment(group.title, group.said);
	return out;
}

} // namespace lockscope
