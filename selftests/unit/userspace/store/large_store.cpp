// SPDX-License-Identifier: GPL-2.0
#include "large_store.h"

#include "large_plan.h"

#include "model/counters.h"
#include "store/writer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace lockscope::test {

namespace {

/// Acquire sites of a class; outer frames that stacks share, and how many they have.
constexpr std::uint32_t kSites = 3, kOuter = 400, kFewest = 4, kMost = 10;
/// Classes that are locked by functions that call each other.
constexpr std::uint32_t kNear = 8;
/// One race in so many.
constexpr std::uint32_t kSideless = 10;
/// The site of each lock, and the return into its function from a call.
constexpr std::uint64_t kSite = 0x11, kReturn = 0x3d;

class Writer {
public:
	Writer(StoreWriter &store, const Plan &plan, const LargeStore &wanted)
		: store_(store), plan_(plan), wanted_(wanted), random_(wanted.order)
	{
		numbers_.resize(plan.classes.size());
		std::iota(numbers_.begin(), numbers_.end(), 0u);
		if (wanted.order)
			shuffle_classes();
	}

	Status write()
	{
		std::vector<std::uint32_t> runs(wanted_.runs);
		std::iota(runs.begin(), runs.end(), 0u);
		if (wanted_.order)
			random_.shuffle(runs);
		for (auto run : runs) {
			LS_TRY_STATUS(begin_run(run));
			LS_TRY_STATUS(store_.begin());
			LS_TRY_STATUS(put_classes(run));
			LS_TRY_STATUS(put_observations(run));
			LS_TRY_STATUS(put_reports());
			LS_TRY_STATUS(put_races(run));
			LS_TRY_STATUS(put_chains());
			LS_TRY_STATUS(put_counters());
			LS_TRY_STATUS(store_.set_finish(run_, RunEnd::Finished));
			LS_TRY_STATUS(store_.end_run(run_));
			LS_TRY_STATUS(store_.commit(run_));
			stacks_ += stack_ids_.size();
		}
		return put_lines();
	}

	std::size_t stacks() const { return stacks_; }

private:
	void shuffle_classes()
	{
		std::vector<std::uint32_t> rest(numbers_.begin() + 1, numbers_.end());
		random_.shuffle(rest);
		std::copy(rest.begin(), rest.end(), numbers_.begin() + 1);
	}

	Status begin_run(std::uint32_t run)
	{
		ls_info info{};
		info.instance = wanted_.order * 100 + run + 1;
		std::strcpy(info.release, "6.1.0-large");
		auto begun = store_.begin_run(info, "kmod", "boot-" + std::to_string(run), "0123");
		if (!begun)
			return begun.error();
		run_ = *begun;
		codes_.clear();
		stack_ids_.clear();
		chain_ids_.clear();
		chains_.clear();
		ordinals_.clear();
		return success();
	}

	/// Classes that the run met.
	std::vector<bool> met(std::uint32_t run) const
	{
		std::vector<bool> out(plan_.classes.size());
		for (const auto &observation : plan_.observations) {
			if (observation.run != run)
				continue;
			out[observation.acquired.cls] = true;
			for (const auto &lock : observation.held)
				out[lock.cls] = true;
		}
		for (const auto &race : plan_.races)
			if (race.run == run)
				out[race.guard] = true;
		return out;
	}

	Status put_classes(std::uint32_t run)
	{
		const auto known = met(run);
		for (std::uint32_t i = 1; i < plan_.classes.size(); i++) {
			if (!known[i])
				continue;
			const auto &cls = plan_.classes[i];
			ClassRecord record;
			record.id = record.canonical = numbers_[i];
			record.kind = static_cast<std::uint8_t>(cls.kind);
			record.origin = static_cast<std::uint8_t>(cls.origin);
			if (cls.origin != LS_ORIGIN_STATIC) {
				record.offset = 8 * (i % 80);
				record.object_size = 1024;
			}
			record.module = cls.module;
			record.name = cls.name;
			LS_TRY_STATUS(store_.put_class(
				run_, record,
				{cls.field, cls.kind == LS_KIND_SPINLOCK ? "spinlock_t" : ""}));
		}
		return success();
	}

	Result<std::uint32_t> code(const std::string &function, const std::string &module,
				   std::uint64_t offset)
	{
		const std::string key = function + '+' + std::to_string(offset);
		if (auto at = codes_.find(key); at != codes_.end())
			return at->second;
		auto id =
			store_.add_code(run_, random_.next(), {{function, offset, module, "ab12"}});
		if (!id)
			return id;
		codes_[key] = *id;
		lined_.try_emplace(key, StoreWriter::Unlined{"ab12", module, function, offset});
		return id;
	}

	std::string function_of(std::uint32_t cls, std::uint32_t site) const
	{
		return plan_.classes[cls].module + "_use_" + std::to_string(cls) +
		       static_cast<char>('a' + site);
	}

	Result<std::uint32_t> site(std::uint32_t cls, std::uint32_t other,
				   std::uint64_t offset = kSite)
	{
		return code(function_of(cls, other % kSites), plan_.classes[cls].module, offset);
	}

	/// The acquire, half the time called by the function of @caller, and frames shared by
	/// many stacks.
	Result<std::uint32_t> stack(std::uint32_t acquired, std::uint32_t caller)
	{
		auto top = site(acquired, caller);
		if (!top)
			return top;
		std::vector<std::uint32_t> frames{*top};
		if (caller && acquired / kNear == caller / kNear && (acquired + caller) % 2) {
			auto frame = site(caller, acquired, kReturn);
			if (!frame)
				return frame;
			frames.push_back(*frame);
		}
		return shared_stack(std::move(frames), acquired / 4);
	}

	/// A stack that ends in the frames of that path.
	Result<std::uint32_t> shared_stack(std::vector<std::uint32_t> frames, std::uint32_t path)
	{
		const auto depth = kFewest + path % (kMost - kFewest);
		for (std::uint32_t i = 0; i < depth; i++) {
			auto frame =
				code("outer_" + std::to_string((path + i * i) % kOuter), "", 0x20);
			if (!frame)
				return frame;
			frames.push_back(*frame);
		}
		auto [at, added] = stack_ids_.try_emplace(
			frames, static_cast<std::uint32_t>(stack_ids_.size() + 1));
		if (added)
			LS_TRY_STATUS(store_.put_stack(run_, at->second, frames));
		return at->second;
	}

	std::uint32_t val(const PlannedLock &lock) const { return numbers_[lock.cls] | lock.flags; }

	/// Where the lock is, the same in all of a run.
	std::uint64_t place(const PlannedLock &lock) const
	{
		Random random((wanted_.order << 32) + lock.cls);
		return random.next() | lock.instance;
	}

	std::uint32_t chain(std::uint32_t parent, std::uint32_t value, std::uint32_t at)
	{
		const auto key = std::uint64_t{parent} << 32 | value;
		auto [found, added] =
			chain_ids_.try_emplace(key, static_cast<std::uint32_t>(chains_.size() + 1));
		if (added)
			chains_.push_back({{parent, value, 0, 0, 0}, at});
		return found->second;
	}

	Status put_observation(const PlannedObservation &planned)
	{
		const auto &lock = planned.acquired;
		const std::uint32_t caller = planned.held.empty() ? 0 : planned.held.back().cls;
		auto at = site(lock.cls, caller);
		if (!at)
			return at.error();
		auto trace = stack(lock.cls, caller);
		if (!trace)
			return trace.error();
		ObservationRecord record;
		record.time_ns = 1000 * (run_.observations + 1);
		record.val = val(lock);
		record.what = planned.what;
		record.stack = *trace;
		record.pid = record.tgid = 100 + random_.below(400);
		record.cpu = static_cast<std::uint16_t>(random_.below(8));
		record.comm = "task" + std::to_string(record.pid % 20);
		std::vector<HeldRow> held;
		std::uint32_t below = 0;
		for (const auto &other : planned.held) {
			auto held_at = site(other.cls, lock.cls);
			if (!held_at)
				return held_at.error();
			held.push_back({val(other), *held_at, place(other), 0});
			record.new_mask |= std::uint64_t{1} << (held.size() - 1);
			below = chain(below, val(other), *held_at);
		}
		if (planned.what == LS_SIGHT_ACQUIRE) {
			record.chain = chain(below, record.val, *at);
			chains_[record.chain - 1].chain.count++;
		}
		LS_TRY_STATUS(store_.put_observation(run_, record, *at, place(lock), 0, held));
		run_.observations++;
		return success();
	}

	Status put_observations(std::uint32_t run)
	{
		std::vector<std::size_t> order;
		for (std::size_t i = 0; i < plan_.observations.size(); i++)
			if (plan_.observations[i].run == run)
				order.push_back(i);
		if (wanted_.order)
			random_.shuffle(order);
		for (auto i : order) {
			ordinals_[i] = run_.observations;
			LS_TRY_STATUS(put_observation(plan_.observations[i]));
		}
		return success();
	}

	/* As the module has it: a cycle begins anywhere. */
	Status put_reports()
	{
		std::uint32_t id = 0;
		for (const auto &report : plan_.reports) {
			if (!ordinals_.contains(report.observations.front()))
				continue;
			if (report.kind == LS_FINDING_RECURSIVE) {
				const auto i = report.observations.front();
				const auto ordinal = ordinals_[i];
				LS_TRY_STATUS(store_.put_inversion(
					run_, {numbers_[plan_.observations[i].acquired.cls], true,
					       ordinal, ordinal}));
				continue;
			}
			FindingRecord record{++id, static_cast<std::uint16_t>(report.kind), {}};
			for (auto i : report.observations) {
				const auto &seen = plan_.observations[i];
				record.edges.push_back({numbers_[seen.held.back().cls],
							numbers_[seen.acquired.cls], LS_DEP_EN,
							ordinals_[i]});
			}
			if (wanted_.order)
				std::rotate(record.edges.begin(), record.edges.begin() + 1,
					    record.edges.end());
			LS_TRY_STATUS(store_.put_finding(run_, record));
		}
		return success();
	}

	Status put_access(const PlannedRace &race, std::uint32_t id, bool second)
	{
		const std::string module = "mod" + std::to_string(race.data % 100),
				  function = module + (second ? "_read_" : "_write_") +
					     std::to_string(race.number);
		auto at = code(function, module, kSite);
		if (!at)
			return at.error();
		auto trace = shared_stack({*at}, race.number / 4 + second);
		if (!trace)
			return trace.error();
		AccessRecord record;
		record.id = id;
		record.data = race.data;
		record.offset = race.offset;
		record.size = 8;
		record.op = second ? LS_ACC_READ : LS_ACC_WRITE;
		record.time_ns = 1000 * id;
		record.stack = *trace;
		record.pid = record.tgid = 100 + random_.below(200) * 2 + second;
		record.comm = "task" + std::to_string(record.pid % 20);
		std::vector<GuardRow> guards;
		if (second && race.guard) {
			auto held = site(race.guard, race.number);
			if (!held)
				return held.error();
			guards.push_back({val({race.guard}), *held, LS_REL_STATIC, 0, 0,
					  place({race.guard})});
		}
		LS_TRY_STATUS(store_.put_access(run_, record, *at, guards));
		return store_.set_access_count(run_, id, 1 + race.number % 9, false);
	}

	Status put_side(const PlannedRace &race, std::uint32_t id, std::uint32_t access,
			bool second)
	{
		SideRecord side;
		side.race = id;
		side.flags = LS_SIDE_TASK | (second ? unsigned{LS_SIDE_SECOND} : 0u);
		side.time_ns = std::uint64_t{2 * id} * 1000;
		side.access = access;
		side.pid = side.tgid = 110 + second;
		side.cpu = static_cast<std::uint16_t>(second);
		side.comm = second ? "reader" : "writer";
		std::vector<std::uint64_t> locks;
		if (second && race.guard)
			locks.push_back(place({race.guard}));
		return store_.put_side(run_, side, locks);
	}

	Status put_races(std::uint32_t run)
	{
		std::set<std::uint32_t> raced;
		for (const auto &race : plan_.races)
			if (race.run == run)
				raced.insert(race.data);
		for (const auto data : raced) {
			const std::string name =
				"mod" + std::to_string(data % 100) + "_stat" + std::to_string(data);
			DataRecord record;
			record.id = data;
			record.object_size = 8 * kMembers;
			record.kind = LS_DATA_SLAB;
			record.name = name;
			LS_TRY_STATUS(store_.put_data(run_, record, "", "struct " + name));
			for (std::uint32_t i = 0; i < kMembers; i++)
				LS_TRY_STATUS(store_.put_member(run_.id, data, 8 * i, LS_KIND_NONE,
								"member_" + std::to_string(i)));
		}
		std::uint32_t id = 0;
		for (const auto &race : plan_.races) {
			if (race.run != run)
				continue;
			const std::uint32_t first = ++id, second = ++id;
			LS_TRY_STATUS(put_access(race, first, false));
			LS_TRY_STATUS(put_access(race, second, true));
			LS_TRY_STATUS(store_.put_race(run_,
						      {id / 2,
						       race.flags,
						       first,
						       second,
						       110,
						       111,
						       0,
						       std::uint64_t{id} * 1000,
						       {}},
						      random_.next()));
			/* As recorded by older modules, without its sides. */
			if (race.number % kSideless == 0)
				continue;
			LS_TRY_STATUS(put_side(race, id / 2, first, false));
			LS_TRY_STATUS(put_side(race, id / 2, second, true));
		}
		return success();
	}

	Status put_chains()
	{
		for (std::uint32_t i = 0; i < chains_.size(); i++)
			LS_TRY_STATUS(
				store_.put_chain(run_, i + 1, chains_[i].chain, chains_[i].code));
		return success();
	}

	Status put_counters()
	{
		LS_TRY_STATUS(store_.put_counter(run_, "acquisitions",
						 std::uint64_t{run_.observations} * 1000));
		for (const char *level : {LS_LEVEL_NAMES})
			LS_TRY_STATUS(store_.put_counter(run_, level, 1000));
		return store_.put_counter(run_, kMinorCounter, LS_ABI_MINOR);
	}

	Status put_lines()
	{
		LS_TRY_STATUS(store_.begin());
		for (const auto &[key, place] : lined_) {
			const auto number = static_cast<std::uint32_t>(stable_hash(key));
			std::vector<SourceLine> lines{
				{place.function,
				 (place.module.empty() ? "kernel" : place.module) + "/file.c",
				 number % 5000, false}};
			if (number % 4 == 0)
				lines.insert(lines.begin(),
					     {"helper_" + std::to_string(number % 50),
					      "include/helper.h", number % 90, true});
			LS_TRY_STATUS(store_.put_lines(place, lines));
		}
		return store_.commit();
	}

	struct NumberedChain {
		ls_chain chain;
		std::uint32_t code;
	};

	StoreWriter &store_;
	const Plan &plan_;
	const LargeStore &wanted_;
	Random random_;
	RunState run_;
	std::vector<std::uint32_t> numbers_; ///< of classes
	std::unordered_map<std::string, std::uint32_t> codes_;
	std::map<std::vector<std::uint32_t>, std::uint32_t> stack_ids_;
	std::unordered_map<std::uint64_t, std::uint32_t> chain_ids_;
	std::vector<NumberedChain> chains_;
	std::unordered_map<std::size_t, std::uint32_t> ordinals_; ///< of planned observations
	std::map<std::string, StoreWriter::Unlined> lined_;
	std::size_t stacks_ = 0;
};

} // namespace

Result<Planted> write_large_store(const std::string &path, const LargeStore &wanted)
{
	const Plan plan = plan_of(wanted);
	auto store = StoreWriter::open(path);
	if (!store)
		return store.error();
	Writer writer(*store, plan, wanted);
	LS_TRY_STATUS(writer.write());
	return Planted{plan.findings, plan.edges.size(), plan.classes.size() - 1,
		       plan.observations.size(), writer.stacks()};
}

} // namespace lockscope::test
