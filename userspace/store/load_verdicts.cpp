// SPDX-License-Identifier: GPL-2.0
#include "store/load_verdicts.h"

#include "store/each_row.h"
#include "store/schema.h"
#include "util/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace lockscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestReason = 32;

std::string one_line(std::string text)
{
	std::replace(text.begin(), text.end(), '\n', '?');
	return printable(std::move(text));
}

/* The depth is limited: recursion is safe. */
Json printable_json(const Json &json)
{
	Json out = json;
	if (json.is_string()) {
		out = one_line(json.get<std::string>());
	} else if (json.is_array()) {
		for (auto &item : out)
			item = printable_json(item);
	} else if (json.is_object()) {
		out = Json::object();
		for (const auto &[member, value] : json.items())
			out[one_line(member)] = printable_json(value);
	}
	return out;
}

bool all_of_text(const std::string &text, bool (*allowed)(char))
{
	return std::all_of(text.begin(), text.end(), allowed);
}

} // namespace

std::optional<std::string> checked_evidence(std::string_view json)
{
	if (json.size() > kMostEvidence)
		return std::nullopt;
	bool deep = false;
	const Json::parser_callback_t limit = [&](int depth, Json::parse_event_t, Json &) {
		deep |= depth > kDeepestEvidence;
		return !deep;
	};
	const Json parsed = Json::parse(json, limit, false);
	if (deep || !parsed.is_object())
		return std::nullopt;
	return printable_json(parsed).dump();
}

bool sensible(const Verdict &verdict)
{
	const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
	const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
	const int result = static_cast<int>(verdict.result);
	return verdict.finding.size() == 16 && all_of_text(verdict.finding, digit) &&
	       result >= static_cast<int>(VerdictResult::Confirmed) &&
	       result <= static_cast<int>(VerdictResult::NotReached) &&
	       (verdict.reason.empty() || verdict.result == VerdictResult::Refuted) &&
	       verdict.reason.size() <= kLongestReason && all_of_text(verdict.reason, letter) &&
	       verdict.why.size() <= kLongestWhy && verdict.time >= 0 &&
	       checked_evidence(verdict.evidence);
}

Status load_verdicts(Database &db, Model &model, const std::string &run)
{
	auto version = schema_version(db);
	if (!version)
		return version.error();
	if (*version < kVerdictSchema)
		return success();
	return each_row(db,
			"SELECT finding, result, reason, why, tries, time, evidence FROM verdict"
			" WHERE run = " +
				run,
			[&](Statement &row) {
				Verdict verdict;
				const auto result = row.word(1);
				/* Before the conversion, which may cut it. */
				if (result > static_cast<std::uint64_t>(VerdictResult::NotReached))
					return false;
				verdict.finding = row.text(0);
				verdict.result = static_cast<VerdictResult>(result);
				verdict.reason = row.text(2);
				verdict.why = one_line(row.text(3));
				verdict.tries = row.word(4);
				verdict.time = row.integer(5);
				verdict.evidence = row.text(6);
				auto evidence = checked_evidence(verdict.evidence);
				if (!evidence || !sensible(verdict))
					return false;
				verdict.evidence = std::move(*evidence);
				auto [at, first] =
					model.verdicts.try_emplace(verdict.finding, verdict);
				if (!first && holds_over(verdict, at->second))
					at->second = std::move(verdict);
				return true;
			});
}

} // namespace lockscope
