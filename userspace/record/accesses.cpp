// SPDX-License-Identifier: GPL-2.0
// The recorder's part for memory accesses.
#include "record/recorder.h"

namespace lockscope {

namespace {

constexpr std::uint64_t kGranuleBytes = 8;
/* First minor ABI with LS_COUNT_SHARED and places behind pointers. */
constexpr int kReportsShared = 4;

} // namespace

Status Recorder::put(const DataRecord &record)
{
	data_[record.id] = record;
	named_.erase(named_.lower_bound({record.id, 0, LS_KIND_NONE}),
		     named_.lower_bound({record.id + 1, 0, LS_KIND_NONE}));
	pointees_.erase(pointees_.lower_bound({record.id, 0, 0, LS_KIND_NONE}),
			pointees_.lower_bound({record.id + 1, 0, 0, LS_KIND_NONE}));
	return store_.put_data(run_, record, symbols_.build_id(record.module),
			       namer_ ? namer_->type(record) : std::string());
}

/* Data without a name is stored as well: debug information may have it. */
Status Recorder::name_member(std::uint32_t data, std::uint32_t offset, ls_kind lock)
{
	auto at = data_.find(data);
	if (at == data_.end() || !named_.insert({data, offset, lock}).second)
		return success();
	return store_.put_member(run_.id, data, offset, lock,
				 namer_ ? namer_->member(at->second, offset, lock) : std::string());
}

Status Recorder::name_pointee(std::uint32_t data, std::uint32_t via, std::uint32_t offset,
			      ls_kind lock)
{
	auto at = data_.find(data);
	/* An older module reports the offset in the whole object instead. */
	if (info_.abi_minor < kReportsShared || at == data_.end() || !namer_ ||
	    !pointees_.insert({data, via, offset, lock}).second)
		return success();
	return store_.put_pointee(run_.id, data, via, offset, lock,
				  namer_->pointee(at->second, via, offset, lock));
}

Status Recorder::put(const AccessRecord &record)
{
	/* A probe reports the instruction itself; code() expects the address after it, so that
	 * lines are right. */
	auto at = code(record.op & LS_ACC_PROBE ? record.ip + 1 : record.ip);
	if (!at)
		return at.error();
	LS_TRY_STATUS(name_member(record.data, record.offset, LS_KIND_NONE));
	std::vector<GuardRow> guards;
	for (const auto &guard : record.guards) {
		auto row = code(guard.ip);
		if (!row)
			return row.error();
		guards.push_back({guard.val, *row, guard.relation, guard.via, guard.lock_offset,
				  instance(guard.lock)});
		auto kind = class_kind_.find(guard.val & LS_VAL_CLASS_MASK);
		const bool known = kind != class_kind_.end() && kind->second != LS_KIND_NONE;
		if (guard.relation == LS_REL_SELF && known)
			LS_TRY_STATUS(name_member(record.data, guard.lock_offset, kind->second));
		if (guard.relation == LS_REL_VIA)
			LS_TRY_STATUS(name_member(record.data, guard.via, LS_KIND_NONE));
		if (guard.relation == LS_REL_VIA && known)
			LS_TRY_STATUS(name_pointee(record.data, guard.via, guard.lock_offset,
						   kind->second));
	}
	return store_.put_access(run_, record, *at, guards);
}

Status Recorder::put(const RaceRecord &record)
{
	return store_.put_race(run_, record, instance(record.addr / kGranuleBytes));
}

Status Recorder::put(const SideRecord &record)
{
	std::vector<std::uint64_t> locks;
	for (auto lock : record.locks)
		locks.push_back(lock ? instance(lock) : 0);
	return store_.put_side(run_, record, locks);
}

Status Recorder::put(const HistoryRecord &record)
{
	std::vector<std::uint64_t> locks;
	for (auto lock : record.locks)
		locks.push_back(instance(lock));
	return store_.put_history(run_, record, instance(record.addr / kGranuleBytes), locks);
}

Status Recorder::put_access_counts()
{
	if (!access_info_)
		return success();
	auto counts = source_.access_counts();
	if (!counts)
		return counts.error();
	/* Older modules do not report it: then no access counts as exclusive. */
	const bool reported = info_.abi_minor >= kReportsShared;
	for (std::size_t i = 0; i < counts->size(); i++) {
		const std::uint32_t count = (*counts)[i];
		LS_TRY_STATUS(store_.set_access_count(
			run_, static_cast<std::uint32_t>(i + 1), count & ~LS_COUNT_SHARED,
			reported && count && !(count & LS_COUNT_SHARED)));
	}
	return success();
}

} // namespace lockscope
