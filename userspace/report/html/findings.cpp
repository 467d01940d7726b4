// SPDX-License-Identifier: GPL-2.0
// The list of findings, grouped by cause as in the text.
#include "report/groups.h"
#include "report/html/parts.h"

#include "util/text.h"

#include <unordered_map>

namespace lockscope::html {

namespace {

/// Open at first; the others open on a click, or with JavaScript by a key.
constexpr std::size_t kOpenCards = 2;

/// Cards by rank, in full as long as there is room, then by title.
class Cards {
public:
	explicit Cards(const Model &model) : model_(model) {}

	void render(const Numbered &entry)
	{
		if (full_.open()) {
			std::string text = full_card(model_, *entry.finding, entry.number,
						     cards_.size() < kOpenCards);
			if (full_.take(text.size())) {
				cards_.emplace(entry.number, std::move(text));
				return;
			}
		}
		if (!brief_.open())
			return;
		std::string text = brief_card(model_, *entry.finding, entry.number);
		if (!brief_.take(text.size()))
			return;
		briefs_++;
		cards_.emplace(entry.number, std::move(text));
	}
	/// Empty: there was no room.
	std::string take(const Numbered &entry)
	{
		const auto at = cards_.find(entry.number);
		return at == cards_.end() ? std::string() : std::move(at->second);
	}
	std::size_t briefs() const { return briefs_; }
	std::size_t left_out() const { return brief_.left_out(); }

private:
	const Model &model_;
	std::unordered_map<std::size_t, std::string> cards_;
	Room full_{kCardBytes}, brief_{kBriefBytes};
	std::size_t briefs_ = 0;
};

std::string paragraph(const char *cls, const std::string &text)
{
	Fragment fragment;
	add(fragment.root(), "p", cls, text);
	return fragment.text();
}

/// A card, and those with the same cause below it; nothing where none had room.
std::string group_of(const Group &group, Cards &cards)
{
	const std::string first = cards.take(group.first);
	std::string out = first;
	for (const auto &[through, list] : group.more) {
		std::string inner;
		for (const auto &entry : list)
			inner += cards.take(entry);
		if (first.empty() && inner.empty())
			continue;
		Fragment summary;
		add(summary.root(), "summary", "",
		    std::to_string(list.size()) + " more through " + through);
		out += "<details class=\"more\">" + summary.text() + inner + "</details>";
	}
	return out;
}

} // namespace

std::string findings_section(const Model &model, const Analysis &analysis,
			     const ReportOptions &options)
{
	const auto shown = select_findings(analysis, options);
	const auto groups = groups_of(model, shown);
	Cards cards(model);
	/* Causes first: the rest follows from them. */
	for (const auto &group : groups)
		cards.render(group.first);
	for (const auto &group : groups)
		for (const auto &more : group.more)
			for (const auto &entry : more.second)
				cards.render(entry);
	std::string out = "<section id=\"findings\" class=\"view\"><h2>Findings</h2>";
	if (shown.empty())
		out += paragraph("words", "No finding is listed. What was seen, what was lost and "
					  "what is never seen stands under \"Run\".");
	if (cards.briefs())
		out += paragraph("warn", "Of " + counted(cards.briefs(), "finding") +
						 " only the title stands here, for lack of room: "
						 "lockscope show ID has the rest.");
	if (cards.left_out())
		out += paragraph("warn",
				 left_out_words(cards.left_out(), "finding", "lockscope report"));
	out += "<div id=\"cards\">";
	for (const auto &group : groups)
		out += group_of(group, cards);
	return out + "</div></section>";
}

} // namespace lockscope::html
