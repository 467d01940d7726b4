// SPDX-License-Identifier: GPL-2.0
// Gates of known chains, and what was acquired before: kmod/check/gates.c, passed.c.
#include <algorithm>

#include "module.h"

namespace lockscope::oracle {

namespace {

std::uint64_t gates_key(std::uint32_t prev, std::uint32_t next)
{
	return ls_mix(std::uint64_t{class_of(prev)} << 32 | class_of(next)) & ~1ull;
}

std::uint64_t gates_pair_key(const ls_held &h, std::uint64_t inner, std::uint32_t val)
{
	return ls_mix(ls_mix(ls_mix(h.lock) + inner) + ls_dep_kind(h.val, val)) | 1;
}

} // namespace

bool Module::has_instances(std::uint64_t lock) const
{
	bool any = ctx_.depth && !is_static(lock);
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		any |= !is_static(ctx_.held[i].lock);
	return any;
}

/// Tags of what is held besides @except.
std::vector<std::uint16_t> Module::gate_tags(std::uint32_t except) const
{
	std::vector<std::uint16_t> tags;
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		tags.push_back(i == except ? std::uint16_t{0}
					   : ls_gate_tag(ctx_.held[i].lock, ctx_.held[i].val));
	return tags;
}

/* ls_gates_new() */
std::uint64_t Module::new_gates(std::uint64_t lock, std::uint32_t val, News &news) const
{
	std::uint64_t mask = 0;
	for (std::uint32_t i = 0; has_instances(lock) && i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		if (class_of(h.val) == class_of(val) || !ls_orders(h.val, val))
			continue;
		const auto tags = gate_tags(i);
		const std::uint64_t key = gates_key(h.val, val);
		news.looks |= LS_LOOKS_NEW;
		const auto all = ls_gates_peek(&gates_, key, tags.data(), ctx_.depth);
		if (all != LS_GATES_UNKNOWN && ls_gates_left(&gates_, key)) {
			news.gated = true;
			news.looks |= LS_LOOKS_GATED;
		}
		const auto pair = ls_gates_peek(&gates_, gates_pair_key(h, lock, val), tags.data(),
						ctx_.depth);
		if (all == LS_GATES_ASKED || all == LS_GATES_FEWER || pair == LS_GATES_FEWER ||
		    (ctx_.depth > 1 && pair == LS_GATES_UNKNOWN &&
		     ls_edges_is_wanted(&edges_, h.val, val) &&
		     ls_edges_want_pair(&edges_, h.val, val)))
			mask |= 1ull << i;
	}
	return mask;
}

/* ls_gates_seen() */
void Module::gates_seen(std::uint64_t lock, std::uint32_t val, std::uint64_t mask)
{
	for (std::uint32_t i = 0; has_instances(lock) && i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		if (!(mask & (1ull << i)) || class_of(h.val) == class_of(val) ||
		    !ls_orders(h.val, val))
			continue;
		const auto tags = gate_tags(i);
		ls_gates_mark(&gates_, gates_key(h.val, val), tags.data(), ctx_.depth, false);
		ls_gates_mark(&gates_, gates_pair_key(h, lock, val), tags.data(), ctx_.depth,
			      ctx_.depth > 1);
		if (is_static(h.lock) && is_static(lock))
			ls_edges_count_pair(&edges_, h.val, val);
	}
}

bool Module::ask_for_gates(std::uint32_t prev, std::uint32_t next)
{
	return ls_gates_ask(&gates_, gates_key(prev, next));
}

namespace {

ls_past past_of(const ls_ctx &ctx)
{
	ls_past past{};
	past.first = ls_past_first(&ctx);
	for (std::uint32_t i = past.first; i < ctx.depth; i++)
		past.lock[i - past.first] = ctx.held[i].lock;
	return past;
}

std::uint64_t passed_key(const ls_held &h, std::uint64_t inner, std::uint32_t val)
{
	const std::uint32_t kind = class_of(h.val) == class_of(val) ? 0 : ls_dep_kind(h.val, val);
	return ls_mix(ls_mix(ls_mix(ls_mix(h.lock) + inner) + kind)) | 1;
}

} // namespace

/* is_known() */
bool Module::past_is_known(std::uint32_t i, std::uint32_t val)
{
	if (!ls_passed_is_noted(&ctx_, i))
		return false;
	for (std::uint32_t k = 0; k < ctx_.depth; k++) {
		const std::uint64_t key = k + 1 < ctx_.depth ? ctx_.held[k + 1].below : ctx_.key;
		if (!ls_chains_notes(&chains_,
				     ls_tagtab_find(&chains_.tab, ls_chain_mix(key, val))))
			return false;
	}
	return true;
}

/* What sets have of the present acquisition of @lock; @reported: that has room in a record. */
Module::Past Module::past(std::uint64_t lock, bool reported) const
{
	Past out{past_of(ctx_), {}, 0};
	ls_u16 tags[LS_GATES_KEPT];
	ls_passed_facts(&ctx_, &out.past, lock);
	if (reported) {
		out.facts = ls_passed_report(&ctx_, &out.past, tags);
		out.tags.assign(tags, tags + out.facts);
	} else {
		out.facts = out.past.nr_tags;
		out.tags.assign(out.past.tags, out.past.tags + out.facts);
	}
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		out.tags.push_back(ls_gate_tag(ctx_.held[i].lock, ctx_.held[i].val));
	return out;
}

std::vector<ls_u16> Module::Past::but(std::uint32_t i) const
{
	auto out = tags;
	out[facts + i] = 0;
	return out;
}

/* ls_passed_new() */
std::uint64_t Module::new_past(std::uint64_t lock, std::uint32_t val, News &news)
{
	std::uint64_t mask = 0;
	if (!(news.looks & LS_LOOKS_NOW))
		news.looks |= LS_LOOKS_NEW & LS_LOOKS_NOW;
	const Past all = past(lock, false);
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		if (h.lock == lock || !ls_orders(h.val, val))
			continue;
		const auto tags = all.but(i);
		const auto known = ls_passed_peek(&gates_, passed_key(h, lock, val), tags.data(),
						  static_cast<std::uint32_t>(tags.size()));
		if (known == LS_GATES_UNKNOWN
			    ? !all.facts || !ls_edges_is_wanted(&edges_, h.val, val)
			    : known != LS_GATES_FEWER)
			continue;
		if (!past_is_known(i, val))
			continue;
		mask |= 1ull << i;
		if (class_of(h.val) == class_of(val))
			news.flags |= kNested;
	}
	return mask;
}

/* ls_passed_seen() */
void Module::past_seen(std::uint64_t lock, std::uint32_t val, std::uint64_t mask)
{
	const Past all = past(lock, true);
	bool kept = false, not_kept = false;
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		if (!(mask & 1ull << i) || h.lock == lock || !ls_orders(h.val, val))
			continue;
		const std::uint64_t key = passed_key(h, lock, val);
		const auto tags = all.but(i);
		const auto nr = static_cast<std::uint32_t>(tags.size());
		bool keeps = past_is_known(i, val);
		if (keeps && (all.facts ||
			      ls_passed_peek(&gates_, key, tags.data(), nr) != LS_GATES_UNKNOWN))
			keeps = ls_passed_mark(&gates_, key, tags.data(), nr, true);
		(keeps ? kept : not_kept) = true;
	}
	past_unknown_ = not_kept && !kept;
	past_ = not_kept ? ls_past{} : all.past;
}

/* take_observation(), ls_claims_take(): are there more classes to compare? */
bool Module::take_claims()
{
	auto in_cycle = [&](const Claims &one, const ls_held_rec &h) {
		return class_of(h.val) == one.to || wanted_.contains({class_of(h.val), one.to});
	};
	bool more = false;
	auto mark = [&](std::uint32_t id) {
		more |= !(classes_[id].marks & LS_CLASS_PASSED);
		classes_[id].marks |= LS_CLASS_PASSED;
	};
	auto take = [&](const Claims &one) {
		bool meet = false;
		for (const auto &h : one.held)
			meet |= ls_claims_add(&facts_, h.passed);
		for (ls_u16 fact : one.more)
			meet |= ls_claims_add(&facts_, fact);
		for (const auto &h : one.held)
			if (meet && in_cycle(one, h))
				mark(class_of(h.val));
		if (meet)
			mark(one.to);
	};

	/* Then what is met by a later one. */
	for (int round = 0; round < 2; round++)
		for (const auto &one : claims_)
			if (std::any_of(one.held.begin(), one.held.end(),
					[&](const ls_held_rec &h) { return in_cycle(one, h); }))
				take(one);
	return more;
}

/* ls_passed_take() */
void Module::take_past()
{
	const auto past = past_of(ctx_);
	if (!ls_held_distrusted(&ctx_))
		ls_passed_note(&ctx_, &past);
}

} // namespace lockscope::oracle
