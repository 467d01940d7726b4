// SPDX-License-Identifier: GPL-2.0
#include "record/recorder.h"

#include "model/counters.h"
#include "record/transaction.h"

#include <algorithm>

namespace lockscope {

namespace {

/* Small enough that a kill loses little work, large enough for a full observation. */
constexpr std::size_t kBatchBytes = 1u << 20;
constexpr std::size_t kChainsPerTransaction = 20000;

} // namespace

Status Recorder::attach(const std::string &backend, const std::string &boot,
			const std::string &build_id)
{
	auto info = source_.info();
	if (!info)
		return info.error();
	info_ = *info;
	LS_TRY_STATUS(check_abi(info_));
	auto run = store_.begin_run(info_, backend, boot, build_id);
	if (!run)
		return run.error();
	run_ = *run;
	auto offsets = store_.object_offsets(run_);
	if (!offsets)
		return offsets.error();
	object_offset_ = std::move(*offsets);
	auto kinds = store_.class_kinds(run_);
	if (!kinds)
		return kinds.error();
	class_kind_ = std::move(*kinds);
	auto data = store_.data(run_);
	if (!data)
		return data.error();
	data_ = std::move(*data);
	auto malformed = store_.counter(run_, kMalformedCounter);
	if (!malformed)
		return malformed.error();
	malformed_before_ = *malformed;
	buffer_.resize(kBatchBytes);
	return success();
}

Status Recorder::drain()
{
	for (;;) {
		auto size = source_.read(run_.log_offset, buffer_);
		if (!size)
			return size.error();
		if (*size == 0)
			break;
		std::vector<LogRecord> records;
		const std::size_t used = decoder_.decode({buffer_.data(), *size}, records);

		/* A failed batch must leave no trace, in memory as well. */
		const RunState before = run_;
		Transaction transaction(store_);
		LS_TRY_STATUS(transaction.begin());
		auto stored = store_batch(records);
		run_.log_offset += used;
		if (stored)
			stored = put_counters();
		if (stored)
			stored = transaction.commit(run_);
		if (!stored) {
			run_ = before;
			code_.clear();
			named_.clear();
			return stored.error();
		}
		records_ += records.size();
		if (decoder_.broken())
			return Error{
				0,
				"the module's log is damaged at byte " +
					std::to_string(run_.log_offset) + ": " + decoder_.problem(),
				"what came before is stored; reload the module and record again",
				Exit::Environment};
	}
	return read_counters();
}

Status Recorder::read_counters()
{
	auto info = source_.info();
	if (!info)
		return info.error();
	info_ = *info;
	auto accesses = source_.access_info();
	if (!accesses)
		return accesses.error();
	access_info_ = *accesses;
	return success();
}

Status Recorder::store_batch(const std::vector<LogRecord> &records)
{
	for (const auto &record : records)
		LS_TRY_STATUS(std::visit([&](const auto &r) { return put(r); }, record));
	return success();
}

Status Recorder::put(const ClassRecord &record)
{
	if (record.object_size != 0 && record.offset < record.object_size)
		object_offset_[record.id] = record.offset;
	else
		object_offset_.erase(record.id);
	class_kind_[record.id] = static_cast<ls_kind>(record.kind);
	class_name_[record.id] = record.name;
	const LockField field = fields_ ? fields_(record) : LockField{};
	unnamed_.erase(record.id);
	if (fields_ && field.path.empty() &&
	    (record.origin == LS_ORIGIN_SLAB || record.origin == LS_ORIGIN_ALLOC))
		unnamed_[record.id].record = record;
	return store_.put_class(run_, record, field);
}

std::string Recorder::class_name(std::uint32_t id) const
{
	const auto at = class_name_.find(id);
	return at == class_name_.end() ? "?" : at->second;
}

/* Other locks of the same object, or code that acquires them, may have shown its type since. */
Status Recorder::name_classes()
{
	for (auto at = unnamed_.begin(); at != unnamed_.end();) {
		ClassRecord record = at->second.record;
		/* The log does not have the module of a cache. */
		if (record.origin == LS_ORIGIN_SLAB && at->second.takers.size() == 1)
			record.module = *at->second.takers.begin();
		const LockField field = fields_(record);
		if (field.path.empty()) {
			++at;
			continue;
		}
		LS_TRY_STATUS(store_.put_class(run_, at->second.record, field));
		at = unnamed_.erase(at);
	}
	return success();
}

Status Recorder::put(const StackRecord &record)
{
	std::vector<std::uint32_t> rows;
	for (auto ip : record.ip) {
		auto row = code(ip);
		if (!row)
			return row.error();
		rows.push_back(*row);
	}
	return store_.put_stack(run_, record.id, rows);
}

Status Recorder::put(const ObservationRecord &record)
{
	/* A malformed observation leaves a gap in the numbers, nothing else. */
	if (record.valid) {
		auto at = code(record.ip);
		if (!at)
			return at.error();
		/* Functions of the kernel acquire locks on behalf of modules. */
		if (auto cls = unnamed_.find(record.val & LS_VAL_CLASS_MASK); cls != unnamed_.end())
			if (auto taker = symbols_.find(record.ip);
			    taker && taker->module != "vmlinux")
				cls->second.takers.insert(taker->module);
		std::vector<HeldRow> held;
		for (const auto &entry : record.held) {
			auto row = code(entry.ip);
			if (!row)
				return row.error();
			held.push_back({entry.val, *row, instance(entry.lock),
					object(entry.lock, entry.val)});
		}
		for (std::size_t i = 0; i < record.held.size(); i++)
			if (record.held[i].passed)
				held.push_back({0, static_cast<std::uint32_t>(i),
						record.held[i].passed, 0});
		LS_TRY_STATUS(store_.put_observation(run_, record, *at, instance(record.lock),
						     object(record.lock, record.val), held));
	}
	run_.observations++;
	return success();
}

Status Recorder::put(const FindingRecord &record)
{
	return store_.put_finding(run_, record);
}

Status Recorder::put(const SymbolRecord &record)
{
	/* Final: a later symbol at this address is another one. */
	auto row = code(record.ip);
	if (!row)
		return row.error();
	code_.erase(record.ip);
	LS_TRY_STATUS(store_.set_code(run_, *row,
				      {record.function, record.offset, record.module, {}}, true));
	/* The code row of a probe there, see put(AccessRecord). */
	auto probe = store_.find_code(run_, keyed_hash(run_.key, record.ip + 1));
	if (!probe || !*probe)
		return probe ? success() : Status(probe.error());
	code_.erase(record.ip + 1);
	return store_.set_code(run_, **probe,
			       {record.function, record.offset + 1, record.module, {}}, true);
}

Status Recorder::put(const ModuleRecord &record)
{
	symbols_.module_changed(record);
	return success();
}

Status Recorder::put(const InversionRecord &record)
{
	return store_.put_inversion(run_, record);
}

/* Observations keep their numbering; data and accesses start again. */
Status Recorder::put(const ResetRecord &)
{
	data_.clear();
	named_.clear();
	return store_.forget(run_);
}

Result<std::uint32_t> Recorder::code(std::uint64_t ip)
{
	if (ip == 0)
		return std::uint32_t{0};
	if (auto at = code_.find(ip); at != code_.end())
		return at->second;
	const std::uint64_t hash = keyed_hash(run_.key, ip);
	auto known = store_.find_code(run_, hash);
	if (!known)
		return known.error();
	std::uint32_t id;
	if (*known) {
		id = **known;
	} else {
		auto added = store_.add_code(run_, hash, symbols_.find(ip));
		if (!added)
			return added.error();
		id = *added;
	}
	code_.emplace(ip, id);
	return id;
}

std::uint64_t Recorder::instance(std::uint64_t lock) const
{
	return lock ? keyed_hash(run_.key, lock) : 0;
}

std::uint64_t Recorder::object(std::uint64_t lock, std::uint32_t val) const
{
	auto at = object_offset_.find(val & LS_VAL_CLASS_MASK);
	return lock && at != object_offset_.end() ? keyed_hash(run_.key, lock - at->second) : 0;
}

std::map<std::string, std::uint64_t> Recorder::counters() const
{
	std::map<std::string, std::uint64_t> out;
	for (const auto &counter : counter_names())
		out[counter.name] = counter.get(info_);
	for (const auto &loss : kLosses)
		out[loss.stored] = info_.losses[loss.loss];
	if (access_info_) {
		for (const auto &counter : access_counter_names())
			out[counter.name] = counter.get(*access_info_);
		for (int i = 0; i < LS_NR_ALOSSES; i++)
			out[kAccessLosses[i].name] = access_info_->losses[i];
	}
	out[kMinorCounter] = info_.abi_minor;
	out[kMalformedCounter] = malformed_before_ + decoder_.malformed();
	return out;
}

std::uint64_t Recorder::lag_bytes() const
{
	return info_.log_bytes > run_.log_offset ? info_.log_bytes - run_.log_offset : 0;
}

Status Recorder::put_counters()
{
	for (const auto &[name, value] : counters())
		LS_TRY_STATUS(store_.put_counter(run_, name, value));
	return success();
}

Status Recorder::snapshot()
{
	LS_TRY_STATUS(read_counters());
	auto prims = source_.prims();
	if (!prims)
		return prims.error();
	auto counts = source_.counts();
	if (!counts)
		return counts.error();
	auto chains = source_.chains(1);
	if (!chains)
		return chains.error();

	{
		Transaction transaction(store_);
		LS_TRY_STATUS(transaction.begin());
		LS_TRY_STATUS(put_counters());
		LS_TRY_STATUS(name_classes());
		LS_TRY_STATUS(put_access_counts());
		for (const auto &prim : *prims)
			LS_TRY_STATUS(store_.put_primitive(run_, prim));
		/* Counts are read while they change: clamp them to consistent values. */
		for (auto &count : *counts) {
			count.unmatched_releases =
				std::min(count.unmatched_releases, count.releases);
			LS_TRY_STATUS(store_.put_class_count(run_, count));
		}
		LS_TRY_STATUS(transaction.commit(run_));
	}
	for (std::size_t done = 0; done < chains->size();) {
		Transaction transaction(store_);
		LS_TRY_STATUS(transaction.begin());
		const std::size_t end = std::min(chains->size(), done + kChainsPerTransaction);
		for (; done < end; done++) {
			const ls_chain &chain = (*chains)[done];
			const auto id = static_cast<std::uint32_t>(done + 1);
			/* Chains come from the device, not the log: validate them as well. */
			if (chain.parent >= id || (chain.val & LS_VAL_CLASS_MASK) == 0)
				continue;
			auto at = code(chain.ip);
			if (!at)
				return at.error();
			LS_TRY_STATUS(store_.put_chain(run_, id, chain, *at));
		}
		LS_TRY_STATUS(transaction.commit(run_));
	}
	return success();
}

Status Recorder::put_stat(const StatReport &report)
{
	if (!stat_before_) {
		auto before = store_.stat(run_);
		if (!before)
			return before.error();
		stat_before_ = before->value_or(StatReport{});
	}
	StatReport sum = *stat_before_;
	sum.add(report);
	Transaction transaction(store_);
	LS_TRY_STATUS(transaction.begin());
	LS_TRY_STATUS(store_.put_stat(run_, sum));
	return transaction.commit(run_);
}

Status Recorder::put_verdict(const Verdict &verdict)
{
	Transaction transaction(store_);
	LS_TRY_STATUS(transaction.begin());
	LS_TRY_STATUS(store_.put_verdict(run_, verdict));
	return transaction.commit(run_);
}

Status Recorder::put_death(const DeathRecord &death)
{
	Transaction transaction(store_);
	LS_TRY_STATUS(transaction.begin());
	std::vector<DeadContextRow> rows;
	for (const auto &context : death.contexts) {
		DeadContextRow row{context, {}};
		std::vector<HeldRecord> locks = context.held;
		if (context.waits)
			locks.push_back(*context.waits);
		for (const auto &lock : locks) {
			auto at = code(lock.ip);
			if (!at)
				return at.error();
			row.locks.push_back(
				{lock.val, *at, instance(lock.lock), object(lock.lock, lock.val)});
		}
		rows.push_back(std::move(row));
	}
	LS_TRY_STATUS(store_.put_death(run_, death, rows));
	return transaction.commit(run_);
}

Status Recorder::put_modules(const std::vector<OwnModule> &modules)
{
	if (modules.empty())
		return success();
	Transaction transaction(store_);
	LS_TRY_STATUS(transaction.begin());
	for (const auto &module : modules)
		LS_TRY_STATUS(store_.put_module(run_, module));
	return transaction.commit(run_);
}

Status Recorder::end()
{
	return store_.end_run(run_);
}

Status Recorder::set_finish(RunEnd end, const std::string &problem)
{
	return store_.set_finish(run_, end, problem);
}

void Recorder::forget_run()
{
	if (run_.resumed)
		(void)store_.set_finish(run_, run_.finish).ok();
	else if (store_.created())
		store_.remove();
	else
		(void)store_.remove_run(run_).ok();
}

Progress Recorder::progress() const
{
	Progress progress;
	progress.log_bytes = run_.log_offset;
	progress.classes = info_.classes;
	progress.edges = info_.edges;
	progress.findings = info_.findings;
	progress.acquisitions = info_.acquisitions;
	progress.losses = decoder_.malformed();
	for (auto loss : info_.losses)
		progress.losses += loss;
	if (access_info_) {
		progress.accesses = access_info_->seen;
		for (auto loss : access_info_->losses)
			progress.losses += loss;
	}
	if (trace_)
		for (auto loss : trace_->losses)
			progress.losses += loss;
	return progress;
}

} // namespace lockscope
