// SPDX-License-Identifier: GPL-2.0
#include "shadow_program.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace lockscope::test {
namespace {

/* The owner did the same here since it has the granule, with the same locks and stamp: the
 * module then leaves out the step, as it would change nothing. */
bool nothing_new(const ls_granule &g, const ls_shadow_access &a)
{
	const std::uint64_t entry = ls_entry_make(&a, true, g.state >> 6 & 15);

	if ((g.state & 3) != LS_EXCLUSIVE_TO || (g.state >> 16 & 0xffff) != a.context)
		return false;
	for (ls_u32 i = 0; i < LS_SHADOW_ENTRIES; i++)
		if (ls_entry_covers(g.entry[i], entry))
			return ls_stamp_of(g.stamps, i) == (a.stamp & LS_STAMP_MASK);
	return false;
}

// Ends of what the fields of an entry can hold among them.
constexpr std::uint32_t kContexts[kShadowContexts] = {1, 0x7fff, 0x8000, 0xffff};
constexpr struct {
	std::uint32_t id;
	std::uint8_t op;
} kSites[kShadowSites] = {
	{1, LS_ACC_READ},
	{2, LS_ACC_WRITE},
	{3, LS_ACC_READ | LS_ACC_MARKED},
	{0x1ffff, LS_ACC_WRITE | LS_ACC_MARKED},
	{0x20000, LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC},
	{7, LS_ACC_READ},
	{8, LS_ACC_READ | LS_ACC_WRITE},
	{LS_SHADOW_MAX_SITE, LS_ACC_WRITE},
};
constexpr std::uint64_t kLocks[kShadowLocks] = {LS_PSEUDO_RCU, 0xffff888000001000ull,
						0xffff888000001040ull, 0xffffffffc0000000ull};
constexpr std::uint8_t kBytes[] = {0xff, 0x0f, 0xf0, 0x01, 0x80, 0x3c};
constexpr std::uint32_t kGranules = 2;

class Run {
public:
	Run(ShadowMode mode, ShadowTally &tally)
		: tally_(tally), mode_(mode),
		  sets_(mode.tight ? 3 : 400, mode.tight ? 5 : 2000, 10),
		  ops_(LS_SHADOW_MAX_SITE + 1)
	{
		for (const auto &site : kSites)
			ops()[site.id] = site.op;
		for (std::uint32_t to = 0; to < kShadowContexts; to++) {
			stamp_[to] = LS_STAMP_MASK - 2;
			for (std::uint32_t from = 0; from < kShadowContexts; from++)
				known_[to][from] = stamp_[to] - 1;
		}
		rules_.sets = &sets_.all;
		rules_.ops = ops();
		rules_.ordered = mode.ordered ? &Run::ordered : nullptr;
		rules_.cookie = this;
		rules_.pass_on = mode.pass_on;
	}

	std::string play(const ShadowOp &op)
	{
		const std::uint32_t c = op.context, where = op.where % kGranules;

		switch (op.kind) {
		case ShadowOp::Take:
		case ShadowOp::TakeShared:
			held_[c].emplace(kLocks[op.what % kShadowLocks], op.kind == ShadowOp::Take);
			return {};
		case ShadowOp::Release:
			held_[c].erase(kLocks[op.what % kShadowLocks]);
			return {};
		case ShadowOp::HandOver:
			hand_over(c, op.what % kShadowContexts);
			return {};
		case ShadowOp::Forget:
			ls_shadow_forget(&granules_[where]);
			eraser_.forget(where);
			remembered_[where].clear();
			return {};
		case ShadowOp::Touch:
			return touch(c, kSites[op.what % kShadowSites].id, where,
				     kBytes[op.where / kGranules % std::size(kBytes)]);
		}
		return "no such operation";
	}

private:
	using Access = Eraser::Access;
	using Pair = std::pair<std::uint32_t, std::uint32_t>; // context and site

	ls_u8 *ops() const { return static_cast<ls_u8 *>(ops_.get()); }

	static bool ordered(void *cookie, ls_u32 from, ls_u32 to, ls_u32 stamp)
	{
		const auto index = [](ls_u32 id) {
			return std::ranges::find(kContexts, id) - kContexts;
		};
		const Run *run = static_cast<Run *>(cookie);

		return !ls_stamp_before(run->known_[index(to)][index(from)], stamp);
	}

	void hand_over(std::uint32_t from, std::uint32_t to)
	{
		// Without a callback it is a moment that passes.
		if (from == to || !mode_.ordered) {
			stamp_[from]++;
			return;
		}
		for (std::uint32_t i = 0; i < kShadowContexts; i++)
			known_[to][i] = std::max(known_[to][i], known_[from][i]);
		known_[to][from] = stamp_[from]++;
		eraser_.hand_over(kContexts[from], kContexts[to]);
	}

	std::string touch(std::uint32_t c, std::uint32_t site, std::uint32_t where,
			  std::uint8_t bytes);
	std::string check_state(const ls_shadow_result &r, std::uint32_t where) const;
	std::string check_race(const ls_shadow_result &r, const std::vector<Access> &races,
			       const std::map<Pair, std::vector<Access>> &kept, bool complete);

	ShadowTally &tally_;
	ShadowMode mode_;
	Locksets sets_;
	Zeroed ops_;
	ls_shadow_rules rules_{};
	ls_granule granules_[kGranules] = {};
	mutable Eraser eraser_;
	Locks held_[kShadowContexts];
	std::uint32_t stamp_[kShadowContexts], known_[kShadowContexts][kShadowContexts];
	// What a granule has to know of each pair as long as there are few: the last
	// access, with those before it that had the same locks and stamp, and were
	// from before or after it was shared as well.
	std::map<Pair, std::vector<Access>> remembered_[kGranules];
};

std::string Run::touch(std::uint32_t c, std::uint32_t site, std::uint32_t where, std::uint8_t bytes)
{
	ls_granule &g = granules_[where];
	const ls_granule before = g;
	ls_shadow_access a{};
	Access access;

	a.site = access.site = site;
	a.op = access.op = ops()[site];
	a.bytes = access.bytes = bytes;
	a.stamp = access.stamp = stamp_[c];
	a.context = kContexts[c];
	access.context = a.context;
	access.held = held_[c];
	a.lockset = sets_.of(held_[c]);

	auto &kept = remembered_[where];
	const bool others_done = mode_.ordered && eraser_.all_before(where, a.context);
	const bool again = nothing_new(g, a);
	const bool mine = (before.state & 3) == LS_EXCLUSIVE_TO &&
			  eraser_.granule(where).history.back().context == a.context;
	const bool knows_all = kept.size() <= LS_SHADOW_ENTRIES;
	const ls_shadow_result r = ls_shadow_step(&g, &a, &rules_);
	const std::vector<Access> races = eraser_.access(where, access);

	tally_.states[r.after]++;
	tally_.races += r.race;
	tally_.guarded += r.after >= LS_SHARED_READ && r.candidates != LS_LOCKSET_EMPTY;
	tally_.again += again;
	tally_.handed_over += r.handed_over;
	tally_.unknown += r.unknown;
	if (again && (std::memcmp(&g, &before, sizeof(g)) || r.race || r.handed_over || r.unknown))
		return "an access that was nothing new was something new";
	const bool by_order = (g.state ^ before.state) >> 6 & 15;
	if (by_order && !others_done)
		return "handed over while somebody was not done with it";
	if (r.handed_over && !by_order && !mode_.pass_on)
		return "handed over without a reason";
	if (mode_.ordered && knows_all && others_done && !mine && (before.state & 3) && !by_order)
		return "not handed over though everybody was done with it";
	if (by_order)
		kept.clear();
	if (r.before != (before.state & 3) || r.after != (g.state & 3))
		return "the result tells other states than the granule";
	if (!mode_.ordered && !mode_.pass_on)
		if (std::string wrong = check_state(r, where); !wrong.empty())
			return wrong;
	const bool complete = !mode_.pass_on && !mode_.tight &&
			      kept.size() + !kept.contains({a.context, site}) <= LS_SHADOW_ENTRIES;
	if (std::string wrong = check_race(r, races, kept, complete && !mode_.ordered);
	    !wrong.empty())
		return wrong;
	const Access &done = eraser_.granule(where).history.back();
	auto &own = kept[{a.context, site}];
	if (!own.empty() && (own.back().held != done.held || own.back().stamp != done.stamp ||
			     own.back().initial != done.initial))
		own.clear();
	own.push_back(done);
	return {};
}

// As figure 4 has it, with the same candidates as far as locksets found room.
std::string Run::check_state(const ls_shadow_result &r, std::uint32_t where) const
{
	const Eraser::Granule &expected = eraser_.granule(where);
	const ls_u64 state = granules_[where].state;

	if (r.after != expected.state)
		return "another state than Eraser's";
	if (r.after == LS_EXCLUSIVE_TO)
		return (state >> 16 & 0xffff) == expected.owner ? ""
								: "another owner than Eraser's";
	if (r.candidates != (state >> 32 & 0xffff))
		return "the result tells other candidates than the granule";
	if (r.candidates == LS_LOCKSET_NONE)
		return mode_.tight ? "" : "candidates unknown with room for all";
	std::set<std::uint64_t> left;
	for (const auto &[lock, exclusively] : sets_.read(r.candidates))
		left.insert(lock);
	if (mode_.tight ? !std::ranges::includes(left, *expected.candidates)
			: left != *expected.candidates)
		return "other candidates than Eraser's";
	return {};
}

std::string Run::check_race(const ls_shadow_result &r, const std::vector<Access> &races,
			    const std::map<Pair, std::vector<Access>> &kept, bool complete)
{
	const auto plain = [](std::uint8_t op) { return !(op & (LS_ACC_MARKED | LS_ACC_ATOMIC)); };
	std::set<Pair> told;
	bool any = false, any_plain = false;

	if (r.race)
		told.insert({r.other_context, r.other});
	for (ls_u32 i = 0; i < r.nr_further; i++)
		told.insert({r.further[i].context, r.further[i].site});
	for (const Pair &other : told)
		if (std::ranges::none_of(races, [&](const Access &a) {
			    return Pair(a.context, a.site) == other;
		    }))
			return "a race that Eraser does not bear out";
	if (!complete)
		return {};
	for (const Access &a : races) {
		const auto pair = kept.find({a.context, a.site});

		if (pair == kept.end() || std::ranges::none_of(pair->second, [&](const Access &k) {
			    return k.at == a.at;
		    }))
			continue;
		any = true;
		any_plain = any_plain || plain(a.op);
		if (!told.contains({a.context, a.site}))
			return "a race that Eraser sees was not reported";
	}
	tally_.complete += any;
	if (any_plain && !plain(ops()[r.other]))
		return "the marked side was named though there is a plain one";
	return {};
}

} // namespace

ShadowOp shadow_op(std::uint8_t first, std::uint8_t second)
{
	constexpr ShadowOp::Kind kKinds[16] = {
		ShadowOp::Take,	    ShadowOp::Take,    ShadowOp::TakeShared, ShadowOp::TakeShared,
		ShadowOp::Release,  ShadowOp::Release, ShadowOp::Release,    ShadowOp::HandOver,
		ShadowOp::HandOver, ShadowOp::Touch,   ShadowOp::Touch,	     ShadowOp::Touch,
		ShadowOp::Touch,    ShadowOp::Touch,   ShadowOp::Touch,	     ShadowOp::Touch,
	};
	ShadowOp op{kKinds[first & 15], static_cast<std::uint8_t>(first >> 4 & 3),
		    static_cast<std::uint8_t>(second & 7), static_cast<std::uint8_t>(second >> 3)};

	// Lives are to be longer than a few accesses.
	if (op.kind == ShadowOp::HandOver && op.where == 31)
		op.kind = ShadowOp::Forget, op.where = op.what;
	return op;
}

std::string disagreement(const ShadowProgram &program, ShadowMode mode, ShadowTally *tally)
{
	ShadowTally unused;
	std::string wrong;
	Run run(mode, tally ? *tally : unused);

	for (auto op = program.begin(); op != program.end() && wrong.empty(); ++op)
		wrong = run.play(*op);
	return wrong;
}

ShadowProgram shrunk(ShadowProgram program, ShadowMode mode)
{
	const std::string wrong = disagreement(program, mode);

	for (std::size_t size = program.size(); size; size /= 2) {
		for (std::size_t at = 0; at + size <= program.size();) {
			ShadowProgram less = program;

			less.erase(less.begin() + static_cast<long>(at),
				   less.begin() + static_cast<long>(at + size));
			if (disagreement(less, mode) == wrong)
				program = less;
			else
				at += size;
		}
	}
	return program;
}

std::string to_text(const ShadowProgram &program)
{
	static constexpr const char *kNames[] = {"Take",  "TakeShared", "Release",
						 "Touch", "HandOver",	"Forget"};
	std::ostringstream text;

	for (const ShadowOp &op : program)
		text << "{ShadowOp::" << kNames[op.kind] << ", " << int{op.context} << ", "
		     << int{op.what} << ", " << int{op.where} << "},\n";
	return text.str();
}

} // namespace lockscope::test
