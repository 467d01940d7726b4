// SPDX-License-Identifier: GPL-2.0
/*
 * For every variable and kind of access: evidence, hypotheses, verdict.
 *
 * Writers need a guard exclusively, readers in any mode. A hypothesis is a lock relative to
 * the object, or a context. When writers always hold two locks together, the rule requires
 * both, and readers need either [Eraser 5]; readers may use RCU or a sequence count instead of
 * the writers' lock. Disabled interrupts, softirqs and preemption do not exclude other CPUs:
 * they protect per-CPU data only.
 */
#include "analysis/rules/guards.h"

#include "analysis/context.h"
#include "util/text.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace lockscope {

namespace {

struct Variables {
	std::map<std::string, std::size_t> numbers;
	std::vector<std::size_t> of_access; ///< index of each access
	std::vector<std::vector<std::size_t>> accesses;
};

/* Objects of one type are one variable, wherever they were allocated. */
std::string key_of(const Model &model, const MemoryAccess &access)
{
	if (access.data == kNoData)
		return {};
	const Data &data = model[access.data];
	const Variable variable = variable_of(model, access);
	if ((data.kind == LS_DATA_SLAB || data.kind == LS_DATA_ALLOC) && !access.member.empty() &&
	    !variable.type.empty())
		return variable.type;
	return variable.stable;
}

Variables variables_of(const Model &model)
{
	Variables out;
	for (std::size_t i = 0; i < model.accesses.size(); i++) {
		auto [at, added] = out.numbers.try_emplace(key_of(model, model.accesses[i]),
							   out.accesses.size());
		if (added)
			out.accesses.emplace_back();
		out.of_access.push_back(at->second);
		out.accesses[at->second].push_back(i);
	}
	return out;
}

class Inference {
public:
	explicit Inference(const Model &model)
		: model_(model), variables_(variables_of(model)), protections_(model),
		  sections_(model, variables_.of_access)
	{
	}

	std::vector<Rule> run()
	{
		std::vector<Rule> out;
		for (std::size_t i = 0; i < variables_.accesses.size(); i++) {
			const auto &first = model_.accesses[variables_.accesses[i].front()];
			/* Data named by the accessing function are no variable. */
			if (first.data == kNoData || model_[first.data].kind == LS_DATA_OTHER)
				continue;
			add_rules(i, out);
		}
		std::stable_sort(out.begin(), out.end(), [](const Rule &a, const Rule &b) {
			const bool alone_a = !a.of_type(), alone_b = !b.of_type();
			const auto owner_a = a.owner(), owner_b = b.owner();
			return std::tie(alone_a, owner_a, a.offset, a.variable.name, a.kind) <
			       std::tie(alone_b, owner_b, b.offset, b.variable.name, b.kind);
		});
		return out;
	}

private:
	struct Side {
		Rule rule;
		std::vector<AccessEvidence> evidence;
	};

	void add_rules(std::size_t variable, std::vector<Rule> &out)
	{
		variable_ = variable;
		Side writes = gather(AccessKind::Write), reads = gather(AccessKind::Read);
		judge(writes, nullptr, reads);
		judge(reads, &writes, reads);
		/* Too few of each may be enough together. */
		if (writes.rule.verdict == RuleVerdict::TooFew ||
		    reads.rule.verdict == RuleVerdict::TooFew) {
			Side both = gather(AccessKind::Any);
			judge(both, nullptr, both);
			const bool one_more = writes.rule.pairs && reads.rule.pairs;
			if (one_more && both.rule.verdict == RuleVerdict::Guarded &&
			    agrees(writes.rule, both.rule) && agrees(reads.rule, both.rule)) {
				out.push_back(std::move(both.rule));
				return;
			}
		}
		for (Side *side : {&reads, &writes})
			if (side->rule.pairs || side->rule.marked)
				out.push_back(std::move(side->rule));
	}

	static bool agrees(const Rule &one, const Rule &both)
	{
		return one.verdict == RuleVerdict::TooFew ||
		       (one.guard() && one.guard()->guard() == both.guard()->guard());
	}

	Side gather(AccessKind kind) const
	{
		Side out;
		const auto &accesses = variables_.accesses[variable_];
		const auto &first = model_.accesses[accesses.front()];
		Rule &rule = out.rule;
		rule.kind = kind;
		rule.variable = variable_of(model_, first);
		rule.type = model_[first.data].type;
		rule.member = first.member;
		rule.offset = first.offset;
		rule.global =
			model_[first.data].global() || model_[first.data].kind == LS_DATA_PERCPU;
		std::map<std::tuple<CodeId, std::vector<Protection>, std::vector<CodeId>, bool>,
			 std::size_t>
			known;
		for (std::size_t i : accesses) {
			const auto &access = model_.accesses[i];
			/* A read-modify-write counts as a write. */
			if (kind != AccessKind::Any &&
			    access.writes() != (kind == AccessKind::Write))
				continue;
			if (access.marked()) {
				rule.marked++;
				continue;
			}
			if (access.op & LS_ACC_RANGE) {
				rule.blocks++;
				continue;
			}
			if (initialises(model_, access)) {
				rule.initial++;
				continue;
			}
			AccessEvidence evidence{access.at, protections_.of(access), {}, true};
			std::vector<CodeId> taken;
			for (const auto &held : evidence.held)
				taken.push_back(held.taken);
			auto [at, added] = known.try_emplace(
				{access.at, evidence.held, taken, access.writes()},
				out.evidence.size());
			if (added)
				out.evidence.push_back(std::move(evidence));
			out.evidence[at->second].accesses.push_back(i);
			out.evidence[at->second].alone &= access.alone;
		}
		rule.pairs = out.evidence.size();
		return out;
	}

	static void choose(Rule &rule, Hypothesis h, RuleVerdict verdict = RuleVerdict::Guarded)
	{
		rule.verdict = verdict;
		rule.support = h.support;
		auto same = std::find_if(
			rule.hypotheses.begin(), rule.hypotheses.end(), [&](const auto &each) {
				return each.guard() == h.guard() && each.exclusive == h.exclusive;
			});
		if (same != rule.hypotheses.end())
			rule.hypotheses.erase(same);
		rule.hypotheses.insert(rule.hypotheses.begin(), std::move(h));
	}

	Scales scales(const Side &side) const
	{
		return {model_, sections_, variable_, side.evidence};
	}

	/* @writes was judged, or is nullptr while it is being judged. */
	void judge(Side &side, const Side *writes, const Side &reads) const
	{
		Rule &rule = side.rule;
		const auto all = scales(side).singles(rule.kind != AccessKind::Read);
		for (const auto &single : all) {
			rule.hypotheses.push_back(single.h);
			add_shared(side, single);
		}
		std::vector<const Single *> accepted;
		for (const auto &single : all)
			if (single.lock && single.h.accepted())
				accepted.push_back(&single);
		if (writes && choose_for_readers(side, writes->rule, !accepted.empty()))
			;
		else if (!accepted.empty())
			choose(rule, with_partner(side, accepted, reads));
		else if (!choose_context(side, all) && !choose_class(side, all))
			without_guard(side, all, writes);
		examples(side);
	}

	/* Writers that hold a lock shared: reported, but never a rule. */
	void add_shared(Side &side, const Single &single) const
	{
		if (!single.lock || !single.h.exclusive)
			return;
		Hypothesis shared = single.h;
		shared.exclusive = false;
		shared.checked = false;
		shared = scales(side).weighed(std::move(shared));
		if (shared.support.holds > single.h.support.holds)
			side.rule.hypotheses.push_back(std::move(shared));
	}

	/* The best lock; with another one if each was held whenever the other was, unless
	 * readers always use just one of them. */
	Hypothesis with_partner(const Side &side, const std::vector<const Single *> &accepted,
				const Side &reads) const
	{
		const Single &best = *accepted.front();
		for (const auto *other : accepted) {
			if (other == &best || other->where != best.where)
				continue;
			if (side.rule.kind == AccessKind::Write && !reads.evidence.empty()) {
				const bool one = read_under(reads, best.h),
					   two = read_under(reads, other->h);
				if (one != two)
					return one ? best.h : other->h;
			}
			return scales(side).both(best.h, other->h);
		}
		return best.h;
	}

	bool read_under(const Side &reads, Hypothesis h) const
	{
		h.exclusive = false;
		return scales(reads).weighed(std::move(h)).accepted();
	}

	/* Any of the locks that writers hold is enough; so may be RCU or a sequence count,
	 * unless a lock was found, @any_lock. */
	bool choose_for_readers(Side &side, const Rule &writers, bool any_lock) const
	{
		Hypothesis h;
		auto fits = [&] {
			h = scales(side).weighed(std::move(h));
			if (h.accepted())
				choose(side.rule, h);
			return h.accepted();
		};
		if (const Hypothesis *guard = writers.guard()) {
			h.terms = guard->terms;
			h.all = h.terms.size() < 2;
			if (fits())
				return true;
		} else if (writers.verdict != RuleVerdict::TooFew ||
			   !(writers.pairs || writers.marked)) {
			return false;
		}
		if (any_lock)
			return false;
		const auto locks = h.terms;
		h.all = false;
		for (const char *instead : {kRcu, kSeqcount}) {
			/* If no reader holds the lock it is not part of the rule. */
			h.terms = {instead};
			if (fits())
				return true;
			h.terms.insert(h.terms.end(), locks.begin(), locks.end());
			if (!locks.empty() && fits())
				return true;
		}
		return false;
	}

	bool choose_context(Side &side, const std::vector<Single> &all) const
	{
		const auto &first = model_.accesses[variables_.accesses[variable_].front()];
		if (model_[first.data].kind != LS_DATA_PERCPU)
			return false;
		/* The strongest context that is always held: it includes the others. */
		for (const char *term : {kIrq, kBh, kPreempt})
			for (const auto &single : all)
				if (single.h.terms[0] == term && single.h.accepted()) {
					choose(side.rule, single.h);
					return true;
				}
		return false;
	}

	/* The lock of an unknown object: a belief about the class [RacerX 8.4]. */
	static bool choose_class(Side &side, const std::vector<Single> &all)
	{
		for (const auto &single : all)
			if (single.lock && !single.h.checked && single.h.believed()) {
				choose(side.rule, single.h, RuleVerdict::ByClass);
				return true;
			}
		return false;
	}

	/// All accesses are by one task, and none by an interrupt.
	bool one_task() const
	{
		const auto &accesses = variables_.accesses[variable_];
		const auto &first = model_.accesses[accesses.front()];
		return std::all_of(accesses.begin(), accesses.end(), [&](std::size_t i) {
			const auto &access = model_.accesses[i];
			return access.run == first.run && access.pid == first.pid &&
			       level_of(access.where) == LS_TASK;
		});
	}

	/* Always held, but in too few sections for a verdict. */
	static bool promising(const Single &single)
	{
		return single.lock && single.h.support.holds > 0 &&
		       single.h.support.of < kLeastEvidence &&
		       single.h.support.share() >= kLeastShare;
	}

	void without_guard(Side &side, const std::vector<Single> &all, const Side *writes) const
	{
		Rule &rule = side.rule;
		/* The hypothesis that no lock is needed. */
		rule.support = scales(side).no_lock();
		auto no_lock = [&](const char *why) {
			rule.verdict = RuleVerdict::NoLock;
			rule.why = why;
		};
		const std::size_t enough = rule.support.of;
		if (side.evidence.empty() && rule.marked >= kLeastEvidence)
			no_lock("only marked or atomic accesses");
		else if (enough == 0 && !side.evidence.empty())
			rule.why = "only while nobody else had it";
		else if (enough < kLeastEvidence)
			rule.why = "too few accesses";
		else if (writes && writes->rule.pairs == 0 && writes->rule.marked == 0 &&
			 writes->rule.blocks == 0)
			no_lock("only read");
		else if (one_task())
			no_lock("one task only");
		else if (rule.support.share() >= kLeastShare)
			no_lock("almost never under a lock");
		else if (std::any_of(all.begin(), all.end(), promising))
			rule.why = "too few accesses";
		else {
			rule.verdict = RuleVerdict::Unclear;
			rule.why = "no lock is held often enough";
		}
	}

	void examples(Side &side) const
	{
		Rule &rule = side.rule;
		const Hypothesis *guard = rule.believed();
		for (const auto &evidence : side.evidence) {
			const bool is = guard ? scales(side).section(*guard, evidence).has_value()
					      : !evidence.alone;
			if (!is && evidence.alone) {
				rule.initial++;
				continue;
			}
			(is ? rule.examples : rule.counterexamples)
				.push_back(evidence.accesses.front());
		}
	}

	const Model &model_;
	Variables variables_;
	Protections protections_;
	Sections sections_;
	std::size_t variable_ = 0; ///< being judged
};

} // namespace

const char *name(AccessKind kind)
{
	return kind == AccessKind::Read ? "read" : kind == AccessKind::Write ? "write" : "any";
}

const char *name(RuleVerdict verdict)
{
	switch (verdict) {
	case RuleVerdict::Guarded:
		return "guarded";
	case RuleVerdict::ByClass:
		return "by-class";
	case RuleVerdict::NoLock:
		return "no-lock";
	case RuleVerdict::Unclear:
		return "unclear";
	default:
		return "too-few";
	}
}

std::vector<Rule> infer_rules(const Model &model)
{
	return Inference(model).run();
}

std::string Rule::owner() const
{
	return of_type() ? type : variable.stable;
}

bool initialises(const Model &model, const MemoryAccess &access)
{
	for (const auto &guard : access.guards)
		if (guard.relation == LS_REL_SELF || guard.relation == LS_REL_VIA)
			return false;
	if (context_of(model, access).init())
		return true;
	auto says_so = [](const std::string &function) {
		for (const auto &word : split(plain_function(function), '_'))
			for (const char *known :
			     {"init", "initialize", "initialise", "alloc", "zalloc", "ctor", "free",
			      "destroy", "put", "release", "dispose", "evict"})
				if (word == known)
					return true;
		return false;
	};
	const Code &code = model[access.at];
	return says_so(code.function) ||
	       std::any_of(code.lines.begin(), code.lines.end(),
			   [&](const SourceLine &line) { return says_so(line.function); });
}

} // namespace lockscope
