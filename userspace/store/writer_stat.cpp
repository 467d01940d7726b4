// SPDX-License-Identifier: GPL-2.0
// The part of StoreWriter for statistics.
#include "store/load_stat.h"
#include "store/rows.h"
#include "store/statement.h"
#include "store/writer.h"

#include <vector>

namespace lockscope {

namespace {

/* Without the empty buckets at the end. */
std::string pack_times(const StatTimes &times)
{
	std::vector<std::uint64_t> words = {times.count, times.sum, times.max};
	words.insert(words.end(), times.buckets.begin(), times.buckets.end());
	while (words.size() > 3 && !words.back())
		words.pop_back();
	return pack(std::span<const std::uint64_t>(words));
}

} // namespace

Result<std::optional<StatReport>> StoreWriter::stat(const RunState &run)
{
	return load_stat(*db_, std::to_string(run.id));
}

Status StoreWriter::put_stat(const RunState &run, const StatReport &report)
{
	/* All of them: a name may have become known, or its module may be gone. */
	for (const char *table : {"stat", "stat_site", "stat_total"})
		LS_TRY_STATUS(db_->exec(std::string("DELETE FROM ") + table +
					" WHERE run = " + std::to_string(run.id)));
	LS_STATEMENT(total, "INSERT INTO stat_total VALUES(?,?,?)");
	total.bind(0, run.id).bind(1, kStatMilliseconds);
	LS_TRY_STATUS(total.bind(2, static_cast<std::int64_t>(report.seconds * 1000)).run());
	for (const auto &[what, n] : report.losses)
		LS_TRY_STATUS(total.bind(0, run.id).bind(1, what).bind(2, n).run());
	LS_STATEMENT(put, "INSERT INTO stat VALUES(?,?,?,?,?,?,?,?,?,?)");
	LS_STATEMENT(put_site, "INSERT INTO stat_site VALUES(?,?,?,?,?,?,?,?)");
	for (const auto &c : report.classes) {
		put.bind(0, run.id).bind(1, c.name).bind(2, int{c.kind});
		put.bind_blob(3, pack(std::span<const std::uint64_t>(c.acquired)));
		put.bind_blob(4, pack(std::span<const std::uint64_t>(c.contended)));
		put.bind(5, c.readers).bind(6, c.trylocks).bind(7, c.gave_up);
		put.bind_blob(8, pack_times(c.waits)).bind_blob(9, pack_times(c.holds));
		LS_TRY_STATUS(put.run());
		for (const auto &site : c.sites) {
			put_site.bind(0, run.id).bind(1, c.name).bind(2, int{c.kind});
			put_site.bind(3, site.place).bind(4, site.acquired);
			put_site.bind(5, site.contended).bind(6, site.wait_ns);
			LS_TRY_STATUS(put_site.bind(7, site.hold_ns).run());
		}
	}
	return success();
}

} // namespace lockscope
