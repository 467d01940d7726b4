// SPDX-License-Identifier: GPL-2.0
#include "module.h"

#include <algorithm>
#include <cstring>

namespace lockscope::oracle {

namespace {

/* As in kmod/check/instances.c, kmod/out/nesting.c. */
constexpr std::uint32_t kPairsTold = 64, kPairsKept = 256, kSample = 64, kInversionsTold = 32;
constexpr std::uint32_t kRingNodes = 4096, kRingEdges = 8192;

constexpr std::uint32_t kChainBits = 16, kEdgeBits = 13, kPairBits = 13;

template <std::size_t N> void fill(char (&field)[N], const std::string &text)
{
	std::memset(field, 0, N);
	std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

bool reads(std::uint32_t val)
{
	return val & LS_VAL_READ_MASK;
}

std::uint64_t seen_key(std::uint64_t outer, std::uint64_t inner, std::uint32_t kind)
{
	return ls_mix(ls_mix(ls_mix(outer) + inner) + kind) | 1;
}

} // namespace

Module::Module()
	: court_(kClasses, 1u << 14), chain_slots_(ls_tagtab_bytes(kChainBits)),
	  edge_memory_(ls_edges_bytes(kEdgeBits)), pair_memory_(ls_pairs_bytes(kPairBits)),
	  seen_memory_(ls_seen_bytes(kPairBits)), gates_memory_(ls_gates_bytes(kPairBits)),
	  classes_(1), ring_memory_(ls_nest_bytes(kRingNodes, kRingEdges))
{
	ls_chains_init(&chains_, chain_slots_.get(), kChainBits, kChains);
	ls_edges_init(&edges_, edge_memory_.get(), kEdgeBits, (1u << kEdgeBits) - 1);
	ls_pairs_init(&pairs_, pair_memory_.get(), kPairBits);
	ls_seen_init(&seen_, seen_memory_.get(), kPairBits);
	ls_gates_init(&gates_, gates_memory_.get(), kPairBits);
	ls_nest_init(&rings_, ring_memory_.get(), kRingNodes, kRingEdges);
	for (int seg; (seg = ls_chains_want(&chains_)) >= 0;) {
		segments_.emplace_back(LS_CHAIN_SEG * sizeof(ls_chain));
		ls_chains_provide(&chains_, seg, static_cast<ls_chain *>(segments_.back().get()));
	}
	auto &info = image_.info;
	info.abi_major = LS_ABI_MAJOR;
	info.abi_minor = LS_ABI_MINOR;
	info.active = 1;
	info.instance = 1;
	fill(info.release, "6.1.0-oracle-amd64");
}

template <typename Raw>
void Module::put(Raw record, ls_rec_type type, const void *tail, std::size_t bytes)
{
	record.hdr.len = static_cast<__u32>(sizeof(Raw) + bytes);
	record.hdr.type = type;
	record.hdr.flags = 0;
	auto append = [&](const void *data, std::size_t size) {
		const auto *at = static_cast<const std::byte *>(data);
		image_.log.insert(image_.log.end(), at, at + size);
	};
	append(&record, sizeof(Raw));
	if (bytes)
		append(tail, bytes);
	image_.info.log_bytes = image_.log.size();
}

std::uint32_t Module::add_class(const ClassInfo &info)
{
	ls_rec_class record{};
	ls_class c{};
	record.id = record.canonical = static_cast<__u32>(classes_.size());
	record.kind = c.kind = static_cast<__u8>(info.kind);
	record.origin = c.origin = info.global ? LS_ORIGIN_STATIC : LS_ORIGIN_SLAB;
	record.offset = info.offset;
	record.object_size = info.object_size;
	fill(record.module, "vmlinux");
	fill(record.name, info.name);
	classes_.push_back(c);
	image_.info.classes = record.id;
	put(record, LS_REC_CLASS, nullptr, 0);
	return record.id;
}

void Module::run(const Runner &runner)
{
	runner_ = runner;
	irq_off_ = bh_off_ = false;
	ls_held_clear(&ctx_);
}

std::uint32_t Module::where() const
{
	return std::uint32_t{runner_.level} << LS_VAL_LEVEL_SHIFT |
	       (irq_off_ || runner_.level == LS_HARDIRQ ? LS_VAL_IRQ_OFF : 0) |
	       (bh_off_ || runner_.level == LS_SOFTIRQ ? LS_VAL_BH_OFF : 0);
}

std::uint32_t Module::signature() const
{
	std::uint32_t bits = 0;
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		bits |= ls_gate_bits(ctx_.held[i].lock, ctx_.held[i].val);
	return bits;
}

void Module::find_news(std::uint32_t val, News &news) const
{
	const std::uint32_t held = signature();
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		if (class_of(ctx_.held[i].val) == class_of(val))
			news.self = true;
		if (ls_orders(ctx_.held[i].val, val) &&
		    ls_edges_peek(&edges_, ctx_.held[i].val, val, held) == LS_EDGE_NEW)
			news.mask |= 1ull << i;
	}
}

bool Module::usage_is_new(std::uint64_t lock, std::uint32_t val, std::uint32_t own) const
{
	const std::uint32_t held = signature();
	if (ls_use_is_new(&classes_[class_of(val)], &seen_, lock, own, held))
		return true;
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		if (ls_use_is_new(&classes_[class_of(ctx_.held[i].val)], &seen_, ctx_.held[i].lock,
				  ls_usage_on(ctx_.held[i].val, val), held))
			return true;
	return false;
}

void Module::mark_usage(std::uint64_t lock, std::uint32_t val, std::uint32_t own)
{
	const std::uint32_t held = signature();
	ls_use_mark(&classes_[class_of(val)], &seen_, lock, own, held);
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		ls_use_mark(&classes_[class_of(ctx_.held[i].val)], &seen_, ctx_.held[i].lock,
			    ls_usage_on(ctx_.held[i].val, val), held);
}

bool Module::usage_compares(std::uint32_t val) const
{
	bool compares = ls_uses_compares(&classes_[class_of(val)]);
	for (std::uint32_t i = 0; i < ctx_.depth; i++)
		compares |= ls_uses_compares(&classes_[class_of(ctx_.held[i].val)]);
	return compares;
}

/* ls_instances_look() */
void Module::look_at_nesting(std::uint64_t lock, std::uint32_t val, News &news)
{
	ls_class &c = classes_[class_of(val)];
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		const bool both_read = reads(h.val) && reads(val);
		if (class_of(h.val) != class_of(val) || !ls_orders(h.val, val))
			continue;
		if (h.lock == lock) {
			if (both_read && (val & LS_VAL_READ_MASK) == LS_RECURSIVE
									     << LS_VAL_READ_SHIFT)
				continue;
			if (!(c.marks & LS_CLASS_SAME)) {
				news.flags |= kSame;
				news.mask |= 1ull << i;
			}
			continue;
		}
		std::vector<std::uint32_t> gates;
		for (std::uint32_t k = 0; k < ctx_.depth; k++)
			if (k != i)
				gates.push_back(ls_pair_tag(ctx_.held[k].lock, ctx_.held[k].val));
		switch (ls_pairs_see(&pairs_, h.lock, lock, 0, gates.data(),
				     static_cast<std::uint32_t>(gates.size()),
				     ls_dep_kind(h.val, val))) {
		case LS_PAIR_INVERTED:
			if (c.inversions < kInversionsTold) {
				c.inversions++;
				news.flags |= kInversion;
				news.mask |= 1ull << i;
			}
			break;
		case LS_PAIR_NEW:
			if (c.pairs >= kPairsKept)
				break;
			news.flags |= gates.empty() && c.pairs < kPairsTold ? kPair : kNested;
			c.pairs++;
			news.mask |= 1ull << i;
			break;
		case LS_PAIR_FEWER:
			if (c.pairs >= kPairsKept)
				break;
			c.pairs++;
			news.flags |= kNested;
			news.mask |= 1ull << i;
			break;
		default:
			break;
		}
	}
}

namespace {

/* May other instances than these show the dependency? */
bool may_differ(const ls_held &h, std::uint64_t lock, std::uint32_t val)
{
	return class_of(h.val) != class_of(val) && ls_orders(h.val, val) &&
	       !(is_static(h.lock) && is_static(lock));
}

} // namespace

std::uint64_t Module::new_instances(std::uint64_t lock, std::uint32_t val, News &news) const
{
	std::uint64_t mask = 0;
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		if (!may_differ(h, lock, val))
			continue;
		news.looks |= LS_LOOKS_NEW;
		if (ls_edges_want_pair(&edges_, h.val, val) &&
		    !ls_seen_has(&seen_, seen_key(h.lock, lock, ls_dep_kind(h.val, val))))
			mask |= 1ull << i;
	}
	return mask;
}

void Module::instances_seen(std::uint64_t lock, std::uint32_t val, std::uint64_t mask)
{
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		const ls_held &h = ctx_.held[i];
		if (!(mask & (1ull << i)) || !may_differ(h, lock, val))
			continue;
		ls_edges_count_pair(&edges_, h.val, val);
		ls_seen_add(&seen_, seen_key(h.lock, lock, ls_dep_kind(h.val, val)));
	}
}

bool Module::slow_path(std::uint64_t lock, std::uint64_t ip, std::uint32_t val, std::uint64_t key)
{
	std::uint32_t chain = ls_tagtab_find(&chains_.tab, key);
	ls_chain *data = nullptr;
	News news;

	if (chain && !(chain & LS_CHAIN_SLOW))
		return false;
	const bool noted = ls_chains_notes(&chains_, chain);
	if (chain & LS_CHAIN_DERIVED)
		chain = 0;
	if (ls_held_distrusted(&ctx_))
		return false;
	if (chain) {
		data = ls_chains_get(&chains_, chain & LS_CHAIN_INDEX);
		news.self = !data || data->looks & LS_LOOKS_SELF;
	}
	const bool gated = data && data->looks & LS_LOOKS_GATED;
	if (!chain || gated)
		find_news(val, news);
	if (news.self)
		look_at_nesting(lock, val, news);
	const bool wanted = !data || ls_chains_wants_instances(data);
	if (wanted)
		news.mask |= new_instances(lock, val, news) | new_gates(lock, val, news);
	if (noted)
		news.mask |= new_past(lock, val, news);
	ls_class &own = classes_[class_of(val)];
	if (own.marks & (LS_CLASS_PASSED | LS_CLASS_USES)) {
		news.gated = true;
		news.looks |= LS_LOOKS_GATED;
	}
	if (own.marks & LS_CLASS_USES)
		ls_uses_looked(&own);
	if (!chain || gated || news.flags || news.mask || (wanted && usage_compares(val)))
		news.usage = usage_is_new(lock, val, ls_usage(val));
	if (wanted && gated && !news.gated && !news.mask && !news.usage)
		ls_chains_ungate(data);
	if (chain && !news.flags && !news.mask && !news.usage) {
		if (data)
			ls_chains_looked(&chains_, key, data);
		return noted;
	}
	if (news.self)
		news.looks |= LS_LOOKS_SELF;
	if (!chain)
		ls_chains_add(&chains_, &ctx_, key, val, ip, news.looks, &chain);
	if (news.mask || news.usage) {
		const std::uint32_t held = signature();
		for (std::uint32_t i = 0; i < ctx_.depth; i++)
			if (news.mask & 1ull << i)
				ls_edges_mark(&edges_, ctx_.held[i].val, val, held);
		instances_seen(lock, val, news.mask);
		gates_seen(lock, val, news.mask);
		if (news.flags & kSame)
			classes_[class_of(val)].marks |= LS_CLASS_SAME;
		mark_usage(lock, val, ls_usage(val));
		past_seen(lock, val, news.mask);
		event(LS_SIGHT_ACQUIRE, lock, ip, val, news.mask, chain & LS_CHAIN_INDEX,
		      news.flags);
	}
	if (data)
		ls_chains_looked(&chains_, key, data);
	return noted;
}

void Module::count_chain(std::uint64_t key)
{
	const std::uint32_t id = ls_tagtab_find(&chains_.tab, key);
	if (ls_chain *data = ls_chains_get(&chains_, id & LS_CHAIN_INDEX)) {
		data->count += kSample;
		ls_chains_counted(&chains_, key, id, data);
	}
	sample_ = kSample;
}

void Module::acquire(std::uint64_t lock, std::uint32_t id, bool read, bool tries,
		     std::uint32_t place)
{
	std::uint32_t val = id | where() | (tries ? LS_VAL_TRY : 0);
	if (read) {
		const bool passes = classes_[id].kind == LS_KIND_RWLOCK &&
				    (runner_.level != LS_TASK || (val & LS_VAL_BH_OFF));
		val |= (passes ? LS_RECURSIVE : LS_SHARED) << LS_VAL_READ_SHIFT;
	}
	const std::uint64_t key = ls_chain_mix(ctx_.key, val);
	const std::uint64_t at = ip(runner_.function, place * 16);

	image_.info.acquisitions++;
	image_.info.level_acquisitions[runner_.level]++;
	const bool noted = !ls_tagtab_below(&chains_.tab, key, LS_CHAIN_SLOW_MIN) &&
			   slow_path(lock, at, val, key);
	ls_held_push(&ctx_, lock, at, val, key);
	if (!--sample_)
		count_chain(key);
	if (noted)
		take_past();
}

void Module::release(std::uint64_t lock, std::uint32_t id, bool read, std::uint32_t place)
{
	const std::uint32_t now = where();
	const int i = ls_held_find(&ctx_, lock);

	image_.info.releases++;
	if (i < 0) {
		/* Alone: no other context has it either. */
		const std::uint64_t at = ip(runner_.function, place * 16);
		if (faults_.insert(at).second)
			event(LS_FINDING_DOUBLE_UNLOCK, lock, at,
			      id | (read ? LS_SHARED << LS_VAL_READ_SHIFT : 0), 0, 0, 0);
		ls_held_distrust(&ctx_);
		return;
	}
	const std::uint32_t val = ctx_.held[i].val;
	const bool trusted = !ls_held_distrusted(&ctx_);
	if (ls_held_is_top(&ctx_, lock))
		ls_held_pop_top(&ctx_);
	else
		ls_held_remove(&ctx_, static_cast<std::uint32_t>(i));
	if (!trusted || !(val & ~now & (LS_VAL_IRQ_OFF | LS_VAL_BH_OFF)))
		return;
	const std::uint32_t held_as = (val & (LS_VAL_CLASS_MASK | LS_VAL_READ_MASK)) | now;
	if (!usage_is_new(lock, held_as, ls_usage_on(held_as, held_as)))
		return;
	mark_usage(lock, held_as, ls_usage_on(held_as, held_as));
	event(LS_SIGHT_RELEASE, lock, ip(runner_.function, place * 16), held_as, 0, 0, 0);
}

std::uint64_t Module::ip(const std::string &function, std::uint32_t offset)
{
	const auto [base, added] =
		functions_.try_emplace(function, 0xffffffff81000000u + functions_.size() * 0x1000);
	return ips_.try_emplace({function, offset}, base->second + offset).first->second;
}

std::uint32_t Module::stack(std::uint64_t at)
{
	const auto [known, added] = stack_ids_.try_emplace(at, stacks_ + 1);
	if (!added)
		return known->second;
	ls_rec_stack record{};
	std::uint64_t frames[2] = {at};
	record.id = ++stacks_;
	record.nr = 1;
	if (!runner_.caller.empty())
		frames[record.nr++] = ip(runner_.caller, 64);
	put(record, LS_REC_STACK, frames, record.nr * sizeof(frames[0]));
	image_.info.stacks = stacks_;
	return record.id;
}

void Module::finding(std::uint32_t kind, const std::vector<ls_finding_edge> &edges)
{
	ls_rec_finding record{};
	record.id = ++findings_;
	record.kind = static_cast<__u16>(kind);
	record.nr_edges = static_cast<__u16>(edges.size());
	put(record, LS_REC_FINDING, edges.data(), edges.size() * sizeof(edges[0]));
	image_.info.findings = findings_;
	told.push_back({kind, edges});
}

/* ls_event_fill() and ls_worker_take() */
void Module::event(std::uint32_t what, std::uint64_t lock, std::uint64_t ip, std::uint32_t val,
		   std::uint64_t mask, std::uint32_t chain, std::uint32_t flags)
{
	std::uint64_t room[(sizeof(ls_rec_sight) + LS_MAX_DEPTH * sizeof(ls_held_rec)) / 8];
	auto &s = *reinterpret_cast<ls_rec_sight *>(room);
	const std::uint32_t ordinal = sights_++;

	s = ls_rec_sight{};
	s.hdr.len = static_cast<__u32>(sizeof(s) + ctx_.depth * sizeof(ls_held_rec));
	s.time_ns = (ordinal + 1) * 1000ull;
	s.new_mask = mask;
	s.ip = ip;
	s.lock = lock;
	s.val = val;
	s.chain = chain;
	s.stack = stack(ip);
	s.pid = s.tgid = runner_.pid;
	s.nr_held = static_cast<__u16>(ctx_.depth);
	s.what = what;
	s.extra = what == LS_SIGHT_ACQUIRE && past_unknown_ ? LS_PAST_UNKNOWN : 0;
	fill(s.comm, "task" + std::to_string(runner_.pid));
	holdings_.emplace_back();
	for (std::uint32_t i = 0; i < ctx_.depth; i++) {
		const std::uint32_t facts = what == LS_SIGHT_ACQUIRE && i >= past_.first &&
							    i - past_.first < LS_PAST_DEPTH
						    ? past_.facts[i - past_.first]
						    : 0;
		s.held[i] = {ctx_.held[i].val, facts, ctx_.held[i].ip, ctx_.held[i].lock};
		holdings_.back().push_back({ctx_.held[i].val, ctx_.held[i].lock});
	}
	if (what == LS_SIGHT_ACQUIRE) {
		claims_.push_back(
			{{s.held, s.held + ctx_.depth}, std::to_array(past_.more), class_of(val)});
		for (std::uint32_t i = 0; i < LS_PAST_MORE; i++)
			if (past_.more[i])
				s.extra |= ls_past_extra(past_.more[i], past_.more_of[i], i);
	}
	put(s, LS_REC_SIGHT, s.held, ctx_.depth * sizeof(ls_held_rec));
	image_.info.sights = sights_;

	court_.sight(s);
	for (; reports_ < court_.reports.size(); reports_++) {
		finding(court_.kinds[reports_], court_.reports[reports_]);
		for (const auto &edge : court_.reports[reports_])
			if (wanted_.insert({edge.from, edge.to}).second)
				fresh_.insert({edge.from, edge.to});
	}
	if (LS_SIGHT_IS_FAULT(what))
		finding(what, {{class_of(val), class_of(val), 0, ordinal}});
	take_nesting(s, flags, ordinal);
}

void Module::recursion(const ls_rec_sight &s, std::uint32_t ordinal, std::uint32_t first, bool same)
{
	ls_rec_inversion record{};
	record.class_id = class_of(s.val);
	record.same_instance = same;
	record.first = first;
	record.second = ordinal;
	put(record, LS_REC_INVERSION, nullptr, 0);
	if (recursions_.insert({record.class_id, same}).second)
		finding(LS_FINDING_RECURSIVE,
			{{record.class_id, record.class_id, LS_DEP_EN, ordinal}});
}

namespace {

/* apart() */
bool apart(void *cookie, std::uint32_t first, std::uint32_t second)
{
	const auto &holdings = *static_cast<const std::vector<test::Holding> *>(cookie);
	for (const auto &a : holdings[first])
		for (const auto &b : holdings[second])
			if (a.lock == b.lock && !(reads(a.val) && reads(b.val)))
				return true;
	return false;
}

} // namespace

/* take_pair() */
void Module::take_pair(const ls_rec_sight &s, std::uint32_t ordinal)
{
	auto node = [&](std::uint64_t lock) {
		return ring_nodes_
			.try_emplace(lock, static_cast<std::uint32_t>(ring_nodes_.size() + 1))
			.first->second;
	};
	const std::uint32_t to = node(s.lock);
	for (std::uint32_t i = 0; i < s.nr_held; i++) {
		std::uint32_t path[LS_CYCLE_MAX], nr = 0;
		if (!(s.new_mask & (1ull << i)) || s.held[i].lock == s.lock ||
		    class_of(s.held[i].val) != class_of(s.val))
			continue;
		if (ls_nest_add(&rings_, node(s.held[i].lock), to,
				ls_dep_kind(s.held[i].val, s.val), ordinal, apart, &holdings_, path,
				&nr) == LS_NEST_RING)
			recursion(s, ordinal, path[1], false);
	}
}

/* ls_nesting_take() */
void Module::take_nesting(const ls_rec_sight &s, std::uint32_t flags, std::uint32_t ordinal)
{
	const std::uint32_t self = class_of(s.val);
	if (flags & kSame)
		recursion(s, ordinal, ordinal, true);
	if (flags & kInversion) {
		const std::uint32_t *first = nullptr;
		for (std::uint32_t i = 0; i < s.nr_held && !first; i++)
			if (s.new_mask & (1ull << i) && class_of(s.held[i].val) == self)
				if (auto at = nested_.find({s.lock, s.held[i].lock});
				    at != nested_.end())
					first = &at->second;
		recursion(s, ordinal, first ? *first : ordinal, false);
	}
	if (flags & (kPair | kNested))
		take_pair(s, ordinal);
	for (std::uint32_t i = 0; s.what == LS_SIGHT_ACQUIRE && i < s.nr_held; i++)
		if (s.held[i].lock != s.lock && class_of(s.held[i].val) == self)
			nested_.try_emplace({s.held[i].lock, s.lock}, ordinal);
}

/* ls_wanted_uses() */
bool Module::want_uses(std::uint32_t id)
{
	ls_class &c = classes_[id];
	if (!ls_uses_want(&c))
		return false;
	c.marks |= LS_CLASS_USES;
	return true;
}

/* ls_judge_settle(), ls_wanted_gated(), look_at_chains() */
void Module::work()
{
	ls_judge_settle(&court_.judge);
	std::set<Dependency> unmarked;
	for (const auto &dependency : court_.gated) {
		if (gated_.insert(dependency).second)
			unmarked.insert(dependency);
		if (wanted_.insert(dependency).second)
			fresh_.insert(dependency);
	}
	court_.gated.clear();
	bool compared = take_claims();
	/* on_cycle() */
	for (; asked_ < told.size(); asked_++)
		for (const auto &edge : told[asked_].edges)
			for (const auto &[one, other] :
			     {std::pair{edge.from, edge.to}, std::pair{edge.to, edge.from}})
				if (one >= LS_CLASS_HARDIRQ)
					compared |= want_uses(other);
	if (fresh_.empty() && unmarked.empty() && !compared)
		return;
	for (std::uint32_t id = 1; id <= chains_.nr; id++) {
		ls_chain *data = ls_chains_get(&chains_, id);
		if (!data || !data->count)
			continue;
		std::vector<std::uint32_t> vals;
		for (const ls_chain *up = data; up; up = ls_chains_get(&chains_, up->parent))
			vals.push_back(up->val);
		bool look = std::any_of(fresh_.begin(), fresh_.end(), [&](const Dependency &d) {
			return d.second == class_of(data->val);
		});
		bool gated =
			classes_[class_of(data->val)].marks & (LS_CLASS_PASSED | LS_CLASS_USES) &&
			!(data->looks & LS_LOOKS_GATED);
		for (std::size_t i = 1; i < vals.size(); i++) {
			const Dependency dependency{class_of(vals[i]), class_of(data->val)};
			if (fresh_.contains(dependency))
				ls_edges_wanted(&edges_, vals[i], data->val);
			if (vals.size() > 2 && unmarked.contains(dependency))
				gated |= ask_for_gates(vals[i], data->val);
		}
		if (!look && !gated)
			continue;
		std::uint64_t key = 0;
		for (std::size_t i = vals.size(); i-- > 0;)
			key = ls_chain_mix(key, vals[i]);
		ls_chains_look(&chains_, key, data, gated);
	}
	fresh_.clear();
}

Image Module::finish()
{
	for (const auto &[place, address] : ips_) {
		ls_rec_symbol record{};
		record.ip = address;
		record.offset = place.second;
		record.size = 4096;
		fill(record.function, place.first);
		fill(record.module, "vmlinux");
		put(record, LS_REC_SYMBOL, nullptr, 0);
	}
	for (std::uint32_t id = 1; id <= chains_.nr; id++)
		image_.chains.push_back(*ls_chains_get(&chains_, id));
	image_.info.chains = chains_.nr;
	image_.info.edges = court_.judge.graph.nr_edges;
	image_.info.losses[LS_LOSS_CYCLES] = court_.judge.cut_searches;
	return std::move(image_);
}

} // namespace lockscope::oracle
