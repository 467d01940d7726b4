// SPDX-License-Identifier: GPL-2.0
#include "store/load_stat.h"

#include "store/each_row.h"
#include "store/rows.h"
#include "store/schema.h"

#include <algorithm>
#include <map>

namespace lockscope {

namespace {

using ByLevel = std::array<std::uint64_t, LS_NR_LEVELS>;

std::optional<ByLevel> unpack_levels(std::string_view blob)
{
	const auto words = unpack_hashes(blob, LS_NR_LEVELS);
	if (!words || words->size() != LS_NR_LEVELS)
		return std::nullopt;
	ByLevel out{};
	std::copy(words->begin(), words->end(), out.begin());
	return out;
}

std::optional<StatTimes> unpack_times(std::string_view blob)
{
	const auto words = unpack_hashes(blob, 3 + LS_STAT_BUCKETS);
	if (!words || words->size() < 3)
		return std::nullopt;
	StatTimes out;
	out.count = (*words)[0];
	out.sum = (*words)[1];
	out.max = (*words)[2];
	std::copy(words->begin() + 3, words->end(), out.buckets.begin());
	return out;
}

} // namespace

Result<std::optional<StatReport>> load_stat(Database &db, const std::string &run)
{
	auto version = schema_version(db);
	if (!version)
		return version.error();
	if (*version < kStatSchema)
		return std::optional<StatReport>{};

	StatReport report;
	bool counted = false;
	LS_TRY_STATUS(each_row(
		db, "SELECT name, value FROM stat_total WHERE run = " + run, [&](Statement &row) {
			if (row.text(0) == kStatMilliseconds) {
				report.seconds = static_cast<double>(row.word(1)) / 1000;
				counted = true;
			} else {
				report.losses[row.text(0)] = row.word(1);
			}
			return true;
		}));
	if (!counted)
		return std::optional<StatReport>{};
	std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
	LS_TRY_STATUS(each_row(
		db,
		"SELECT class, kind, acquired, contended, readers, trylocks, gave_up, waits, holds"
		" FROM stat WHERE run = " +
			run,
		[&](Statement &row) {
			const auto acquired = unpack_levels(row.blob(2)),
				   contended = unpack_levels(row.blob(3));
			const auto waits = unpack_times(row.blob(7)),
				   holds = unpack_times(row.blob(8));
			if (row.word(1) >= LS_NR_KINDS || !acquired || !contended || !waits ||
			    !holds)
				return false;
			known[{row.text(0), row.word(1)}] = report.classes.size();
			report.classes.push_back({row.text(0),
						  static_cast<ls_kind>(row.word(1)),
						  *acquired,
						  *contended,
						  row.word(4),
						  row.word(5),
						  row.word(6),
						  *waits,
						  *holds,
						  {}});
			return true;
		}));
	LS_TRY_STATUS(each_row(
		db,
		"SELECT class, kind, place, acquired, contended, wait_ns, hold_ns FROM stat_site"
		" WHERE run = " +
			run,
		[&](Statement &row) {
			const auto at = known.find({row.text(0), row.word(1)});
			if (at == known.end())
				return false;
			report.classes[at->second].sites.push_back(
				{row.text(2), row.word(3), row.word(4), row.word(5), row.word(6)});
			return true;
		}));
	return std::optional(std::move(report));
}

} // namespace lockscope
