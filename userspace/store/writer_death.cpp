// SPDX-License-Identifier: GPL-2.0
#include "store/statement.h"
#include "store/writer.h"

#include "util/text.h"

namespace lockscope {

namespace {

/* The console has all of them; the last ones say how it died. */
constexpr std::size_t kMostMessages = 256u << 10;

std::string last_lines(const std::string &messages)
{
	if (messages.size() <= kMostMessages)
		return messages;
	const std::size_t at = messages.find('\n', messages.size() - kMostMessages);
	return at == messages.npos ? std::string() : messages.substr(at + 1);
}

} // namespace

Status StoreWriter::put_death(const RunState &run, const DeathRecord &death,
			      const std::vector<DeadContextRow> &contexts)
{
	LS_STATEMENT(forget, "DELETE FROM dead_context WHERE run = ?");
	LS_TRY_STATUS(forget.bind(0, run.id).run());
	LS_STATEMENT(put, "INSERT OR REPLACE INTO death VALUES(?,?,?,?)");
	put.bind(0, run.id).bind(1, death.cause).bind(2, last_lines(death.messages));
	LS_TRY_STATUS(put.bind(3, join(death.missing, "\n")).run());
	std::uint64_t n = 0;
	for (const auto &row : contexts) {
		const ContextAtDeath &c = row.context;
		LS_STATEMENT(add, "INSERT INTO dead_context VALUES(?,?,?,?,?,?,?,?,?)");
		add.bind(0, run.id).bind(1, n++).bind(2, c.comm).bind(3, c.pid).bind(4, c.tgid);
		add.bind(5, c.cpu ? std::int64_t{*c.cpu} : -1);
		add.bind(6, static_cast<int>(c.level)).bind(7, c.waits ? 1 : 0);
		LS_TRY_STATUS(add.bind_blob(8, pack(row.locks)).run());
	}
	return success();
}

} // namespace lockscope
