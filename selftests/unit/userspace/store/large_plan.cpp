// SPDX-License-Identifier: GPL-2.0
#include "large_plan.h"

#include <algorithm>

namespace lockscope::test {

namespace {

constexpr std::uint32_t kModules = 100;
/// Classes that are locked both ways, each with each; ones around a hub.
constexpr std::uint32_t kCluster = 6, kSpokes = 10;
/// Locks of the hierarchy taken one after the other.
constexpr std::uint32_t kNested = 7;
/// Per cent of all faults; the rest are cycles of two.
constexpr std::uint32_t kRings = 15, kRaces = 15, kStates = 8, kInversions = 2, kFaults = 4,
			kRecursive = 1;
/// Of a hundred cycles of two, those with a lock around both sides.
constexpr std::uint32_t kGated = 5;

constexpr std::uint32_t kSoftirq = LS_SOFTIRQ << LS_VAL_LEVEL_SHIFT;

class Planner {
public:
	explicit Planner(const LargeStore &wanted) : wanted_(wanted) {}

	Plan plan()
	{
		const std::uint32_t all = wanted_.findings;
		const auto share = [&](std::uint32_t percent) {
			return static_cast<std::uint32_t>(std::uint64_t{all} * percent / 100);
		};
		const std::uint32_t special = share(kRings) + share(kRaces) + share(kStates) +
					      share(kInversions) + share(kFaults) +
					      share(kRecursive);
		add_rings(share(kRings));
		add_races(share(kRaces));
		add_states(share(kStates));
		add_inversions(share(kInversions));
		add_faults(share(kFaults));
		add_recursive(share(kRecursive));
		add_pairs(all - special);
		add_hierarchy();
		return std::move(plan_);
	}

private:
	/// Is the next fault to be in the store?
	bool next_fault()
	{
		/* What is left out does not change the others. */
		random_ = Random(++number_);
		const bool wanted = number_ % 10 != wanted_.without;
		plan_.findings += wanted;
		return wanted;
	}

	std::uint32_t add_class(const char *role, ls_kind kind)
	{
		const auto id = static_cast<std::uint32_t>(plan_.classes.size());
		const std::string number = std::to_string(id),
				  module = "mod" + std::to_string(id % kModules);
		PlannedClass cls{module + ":" + role + "_" + number, module, "", kind,
				 LS_ORIGIN_STATIC};
		/* A third each of variables, of objects by initialiser, and by cache. */
		if (id % 3 == 1) {
			cls.name = std::string("&obj->") + role + "_" + number + " @ " + module +
				   "_probe";
			cls.origin = LS_ORIGIN_INIT;
		} else if (id % 3 == 2) {
			cls.name = module + "_cache+0x" + std::to_string(10 + id % 80);
			cls.field = "struct " + module + "_object." + role + "_" + number;
			cls.origin = LS_ORIGIN_SLAB;
		}
		plan_.classes.push_back(std::move(cls));
		return id;
	}

	std::uint32_t any_run() { return random_.below(wanted_.runs); }

	std::size_t observe(std::uint32_t run, std::vector<PlannedLock> held, PlannedLock acquired,
			    std::uint32_t what = LS_SIGHT_ACQUIRE)
	{
		if (what == LS_SIGHT_ACQUIRE)
			for (const auto &lock : held)
				if (lock.cls != acquired.cls)
					plan_.edges.insert(std::uint64_t{lock.cls} << 32 |
							   acquired.cls);
		plan_.observations.push_back({run, what, std::move(held), acquired});
		return plan_.observations.size() - 1;
	}

	/* Each class before the next one: most cycles of one run, some of several. */
	void add_cycle(const std::vector<std::uint32_t> &classes, std::uint32_t gate = 0)
	{
		const std::uint32_t run = any_run();
		const bool several = random_.below(20) == 0;
		PlannedReport report{LS_FINDING_ORDER_CYCLE, {}};
		for (std::size_t i = 0; i < classes.size(); i++) {
			std::vector<PlannedLock> held{{classes[i]}};
			if (gate)
				held.insert(held.begin(), {gate});
			const auto next = classes[(i + 1) % classes.size()];
			report.observations.push_back(
				observe(several ? any_run() : run, std::move(held), {next}));
		}
		if (!several)
			plan_.reports.push_back(std::move(report));
	}

	void add_pairs(std::uint32_t count)
	{
		const std::uint32_t gated = count * kGated / 100;
		std::uint32_t gate = 0;
		for (std::uint32_t i = 0; i < gated; i++) {
			if (i % 50 == 0)
				gate = add_class("gate", LS_KIND_MUTEX);
			const auto a = add_class("inner", LS_KIND_MUTEX),
				   b = add_class("inner", LS_KIND_MUTEX);
			if (next_fault())
				add_cycle({a, b}, gate);
		}
		for (std::uint32_t made = gated; made < count;) {
			std::vector<std::uint32_t> cluster;
			for (std::uint32_t i = 0; i < kCluster; i++)
				cluster.push_back(add_class("lock", LS_KIND_MUTEX));
			for (std::uint32_t i = 0; i < kCluster && made < count; i++)
				for (std::uint32_t j = 0; j < i && made < count; j++, made++)
					if (next_fault())
						add_cycle({cluster[j], cluster[i]});
			bottom_.push_back(cluster.back());
		}
	}

	void add_rings(std::uint32_t count)
	{
		std::uint32_t hub = 0;
		for (std::uint32_t i = 0; i < count; i++) {
			if (i % kSpokes == 0)
				hub = add_class("hub", LS_KIND_RWSEM);
			const auto a = add_class("ring", LS_KIND_MUTEX),
				   b = add_class("ring", LS_KIND_MUTEX);
			if (next_fault())
				add_cycle({hub, a, b});
			bottom_.push_back(a);
		}
	}

	void add_races(std::uint32_t count)
	{
		std::uint32_t guard = 0;
		for (std::uint32_t i = 0; i < count; i++) {
			if (i % 100 == 0)
				guard = add_class("guard", LS_KIND_MUTEX);
			plan_.data = i / kMembers + 1;
			if (next_fault())
				plan_.races.push_back(
					{any_run(), i, i / kMembers + 1, i % kMembers * 8,
					 i % 4 ? 0u : unsigned{LS_RACE_CAUGHT}, i % 2 ? guard : 0});
		}
	}

	/* Taken in softirqs, and with softirqs on. */
	void add_states(std::uint32_t count)
	{
		for (std::uint32_t i = 0; i < count; i++) {
			const auto cls = add_class("state", LS_KIND_SPINLOCK);
			if (!next_fault())
				continue;
			const auto run = any_run();
			observe(run, {}, {cls, kSoftirq});
			observe(run, {}, {cls});
		}
	}

	/* Taken in softirqs, and before one that is held with softirqs on. */
	void add_inversions(std::uint32_t count)
	{
		for (std::uint32_t i = 0; i < count; i++) {
			const auto safe = add_class("safe", LS_KIND_SPINLOCK),
				   unsafe = add_class("unsafe", LS_KIND_SPINLOCK);
			if (!next_fault())
				continue;
			const auto run = any_run();
			observe(run, {}, {safe, kSoftirq});
			observe(run, {{safe, LS_VAL_BH_OFF}}, {unsafe, LS_VAL_BH_OFF});
			observe(run, {}, {unsafe});
		}
	}

	void add_faults(std::uint32_t count)
	{
		static constexpr std::uint32_t kinds[] = {
			LS_FINDING_BAD_UNLOCK, LS_FINDING_DOUBLE_UNLOCK, LS_FINDING_SLEEP_ATOMIC,
			LS_FINDING_HELD_FREED};
		for (std::uint32_t i = 0; i < count; i++) {
			const auto cls = add_class("fault", LS_KIND_MUTEX);
			if (next_fault())
				observe(any_run(), {}, {cls}, kinds[i % 4]);
		}
	}

	void add_recursive(std::uint32_t count)
	{
		for (std::uint32_t i = 0; i < count; i++) {
			const auto cls = add_class("self", LS_KIND_MUTEX);
			if (!next_fault())
				continue;
			const auto at = observe(any_run(), {{cls}}, {cls});
			plan_.reports.push_back({LS_FINDING_RECURSIVE, {at}});
		}
	}

	/*
	 * The rest of the edges are no fault: locks of a hierarchy, and below them locks of
	 * faults. One part is never held with interrupts on, and taken in some.
	 */
	void add_hierarchy()
	{
		random_ = Random(0);
		const std::uint32_t count = std::max(wanted_.edges / 20, 2 * kNested);
		std::vector<std::uint32_t> sleeping, spinning;
		for (std::uint32_t i = 0; i < count; i++)
			(i % 4 ? sleeping : spinning)
				.push_back(add_class(i % 4 ? "level" : "spin",
						     i % 4 ? LS_KIND_MUTEX : LS_KIND_SPINLOCK));
		for (std::size_t i = 0; i < spinning.size(); i += 10)
			observe(any_run(), {},
				{spinning[i], (LS_HARDIRQ << LS_VAL_LEVEL_SHIFT) | LS_VAL_IRQ_OFF});
		while (plan_.edges.size() < wanted_.edges) {
			const bool spin = random_.below(4) == 0;
			nest(spin ? spinning : sleeping, spin ? LS_VAL_IRQ_OFF : 0u);
		}
	}

	void nest(const std::vector<std::uint32_t> &levels, std::uint32_t flags)
	{
		std::vector<std::uint32_t> chosen;
		for (std::uint32_t i = 0; i < kNested; i++)
			chosen.push_back(random_.below(static_cast<std::uint32_t>(levels.size())));
		std::sort(chosen.begin(), chosen.end());
		chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
		const std::uint32_t run = any_run();
		std::vector<PlannedLock> held;
		for (auto level : chosen) {
			const PlannedLock lock{levels[level], flags};
			if (!held.empty())
				observe(run, held, lock);
			held.push_back(lock);
		}
		if (!flags && !bottom_.empty() && random_.below(4) == 0)
			observe(run, held,
				{bottom_[random_.below(
					static_cast<std::uint32_t>(bottom_.size()))]});
	}

	const LargeStore &wanted_;
	Random random_{0};
	std::uint32_t number_ = 0; ///< of the last fault
	std::vector<std::uint32_t> bottom_;
	Plan plan_;
};

} // namespace

/* splitmix64 [Fast splittable pseudorandom number generators, 2014]. */
std::uint64_t Random::next()
{
	std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

Plan plan_of(const LargeStore &wanted)
{
	return Planner(wanted).plan();
}

} // namespace lockscope::test
