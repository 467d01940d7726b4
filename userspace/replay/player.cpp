// SPDX-License-Identifier: GPL-2.0
// Threads, locks and the order of locks.
#include "replay/player.h"

#include <algorithm>

namespace lockscope::replay {

namespace {

constexpr std::uint32_t kChainBits = 19, kEdgeBits = 19;
constexpr std::uint32_t kSets = 32768, kElements = 4 * kSets, kSetBits = 17;
/* Threads of which a dependency is recorded: both sides of a cycle need one of their own. */
constexpr std::uint32_t kThreadsOfEdge = 4;
/* Observations of a thread that is alone, kept in case it was not. */
constexpr std::size_t kMostDeferred = 1u << 16;

std::uint32_t gates_of(const ls_ctx &ctx)
{
	std::uint32_t gates = 0;
	for (std::uint32_t i = 0; i < ctx.depth; i++)
		gates |= ls_gate_bits(ctx.held[i].lock, ctx.held[i].val);
	return gates;
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b)
{
	return ls_mix(ls_mix(a) + b);
}

} // namespace

Player::Player(const Limits &limits)
	: limits_(limits), log_(limits.log_bytes), thread_numbers_(limits.threads),
	  lock_numbers_(limits.locks), variables_(limits.variables), place_numbers_(limits.places),
	  places_(1), chain_slots_(ls_tagtab_bytes(kChainBits)),
	  edge_memory_(ls_edges_bytes(kEdgeBits)), chains_(std::make_unique<ls_chains>()),
	  stacks_(limits.places), seen_(4 * limits.chains), by_thread_(4 * limits.edges),
	  set_memory_((kSets + 1) * sizeof(ls_lockset)),
	  element_memory_(kElements * sizeof(ls_u64)), set_ids_(ls_tagtab_bytes(kSetBits)),
	  set_meets_(ls_tagtab_bytes(kSetBits)), granules_(1),
	  sites_(std::min<std::uint32_t>(limits.sites, LS_SHADOW_MAX_SITE)), races_(limits.races),
	  site_of_(1), ops_(1)
{
	ls_chains_init(chains_.get(), chain_slots_.get(), kChainBits, limits.chains);
	ls_edges_init(&edges_, edge_memory_.get(), kEdgeBits, limits.edges);
	ls_locksets_init(&sets_, kSets, kElements, static_cast<ls_lockset *>(set_memory_.get()),
			 static_cast<ls_u64 *>(element_memory_.get()), set_ids_.get(),
			 set_meets_.get(), kSetBits);
	info_.abi_major = LS_ABI_MAJOR;
	info_.abi_minor = LS_ABI_MINOR;
	accesses_.mode = LS_ACCESSES_ALL;
}

std::uint32_t Player::thread(std::string_view name, const Event &event, bool forked)
{
	bool added = false;
	const std::uint32_t number = thread_numbers_.of(label(name), &added);
	if (!added)
		return number;
	threads_.push_back(std::make_unique<Thread>());
	Thread &t = at(number);
	t.comm = label(forked ? name : event.comm);
	t.pid = !forked && event.pid ? event.pid : number;
	t.tgid = !forked && event.pid ? event.tgid : 1;
	/* What starts without a fork has been there all the time. */
	if (!forked && number > 1)
		not_alone();
	live_++;
	return number;
}

std::uint32_t Player::lock(const Event &event)
{
	bool added = false;
	const std::uint32_t number = lock_numbers_.of(label(event.object), &added);
	if (!added)
		return number;
	std::string name = label(event.name);
	if (const std::uint32_t nth = ++locks_of_name_[name]; nth > 1) {
		const std::string suffix = "#" + std::to_string(nth);
		name = name.substr(0, LS_NAME_MAX - 1 - suffix.size()) + suffix;
	}
	ls_rec_class record{};
	record.id = record.canonical = number;
	record.kind = static_cast<__u8>(event.kind);
	record.origin = LS_ORIGIN_STATIC;
	fill(record.name, name);
	if (!log_.put(record, LS_REC_CLASS))
		info_.losses[LS_LOSS_RECORDS]++;
	return number;
}

/* Address of a place, 0: not known. */
std::uint64_t Player::place(const Location &location)
{
	bool added = false;
	const std::uint32_t number = place_numbers_.of(
		label(location.function) + '+' + std::to_string(location.offset) + location.module,
		&added);
	if (added)
		places_.push_back(
			{label(location.function), location.offset, label(location.module), {}});
	if (!number)
		info_.losses[LS_LOSS_SITES]++;
	return number ? place_address(number) : 0;
}

/* Id of the event's stack, 0 for none. @ip: the innermost place. */
std::uint32_t Player::stack(const Event &event, std::uint64_t &ip)
{
	std::uint64_t frames[LS_STACK_FRAMES], key = 1;
	ls_rec_stack record{};
	for (const auto &frame : event.stack) {
		if (record.nr == LS_STACK_FRAMES)
			break;
		frames[record.nr] = place(frame);
		key = mixed(key, frames[record.nr++]);
	}
	ip = record.nr ? frames[0] : 0;
	if (!ip)
		return 0;
	bool added = false;
	record.id = stacks_.of(key, &added);
	if (!record.id ||
	    (added && !log_.put(record, LS_REC_STACK, frames, record.nr * sizeof(frames[0]))))
		info_.losses[LS_LOSS_STACKS]++;
	if (added)
		info_.stacks = record.id;
	return record.id;
}

void Player::play(const Event &event)
{
	events_++;
	const std::uint32_t own = thread(event.thread, event);
	switch (event.op) {
	case Op::Acquire:
		acquire(event, own);
		return;
	case Op::Release:
		release(event, own);
		return;
	case Op::Read:
	case Op::Write:
		access(event, own);
		return;
	case Op::Fork:
	case Op::Join:
		break;
	}
	const std::uint32_t other = thread(event.object, event, true);
	if (!own || !other || own == other)
		return;
	if (event.op == Op::Fork)
		fork(own, other);
	else
		join(own, other);
}

void Player::acquire(const Event &event, std::uint32_t own)
{
	info_.acquisitions++;
	info_.level_acquisitions[LS_TASK]++;
	const std::uint32_t id = lock(event);
	if (!id || !own) {
		info_.losses[id ? LS_LOSS_HELD_OVERFLOW : LS_LOSS_CLASSES]++;
		return;
	}
	Thread &t = at(own);
	Taken taken;
	taken.thread = own;
	taken.lock = lock_address(id);
	taken.time_ns = event.time_ns ? event.time_ns : events_;
	taken.cpu = event.cpu == LS_CPU_UNKNOWN ? 0 : event.cpu;
	if (const int held = ls_held_find(&t.ctx, taken.lock); held >= 0) {
		if (event.nests) {
			t.again[taken.lock]++;
			return;
		}
		info_.losses[LS_LOSS_RECORDS]++;
		ls_held_remove(&t.ctx, static_cast<ls_u32>(held));
	}
	if (t.ctx.depth >= LS_MAX_DEPTH) {
		info_.losses[LS_LOSS_HELD_OVERFLOW]++;
		t.ctx.lost++;
		return;
	}
	taken.val = id | std::uint32_t{event.read} << LS_VAL_READ_SHIFT |
		    (event.tries ? LS_VAL_TRY : 0);
	taken.key = ls_chain_mix(t.ctx.key, taken.val);
	taken.stack = stack(event, taken.ip);
	/* No other thread is there that it could meet; it is judged if one comes that was. */
	if (live_ > 1) {
		look(t.ctx, taken);
	} else if (t.ctx.depth) {
		bool added = false;
		seen_.of(mixed(taken.key, ~std::uint64_t{own}), &added);
		if (added && deferred_.size() < kMostDeferred)
			deferred_.push_back({taken, {t.ctx.held, t.ctx.held + t.ctx.depth}});
		else if (added)
			info_.losses[LS_LOSS_RECORDS]++;
	}
	ls_held_push(&t.ctx, taken.lock, taken.ip, taken.val, taken.key);
}

void Player::not_alone()
{
	auto ctx = std::make_unique<ls_ctx>();
	for (const auto &deferred : std::exchange(deferred_, {})) {
		ls_held_clear(ctx.get());
		for (const auto &held : deferred.held)
			ls_held_push(ctx.get(), held.lock, held.ip, held.val,
				     ls_chain_mix(ctx->key, held.val));
		look(*ctx, deferred.taken);
	}
}

/* ls_acquire(): is there anything new about @taken while @ctx is held? */
void Player::look(const ls_ctx &ctx, const Taken &taken)
{
	std::uint32_t chain = ls_tagtab_find(&chains_->tab, taken.key);
	const bool known = chain && !(chain & LS_CHAIN_DERIVED);
	bool fresh = false;
	if (known)
		if (ls_chain *data = ls_chains_get(chains_.get(), chain & LS_CHAIN_INDEX))
			data->count += data->count != ~0u;
	seen_.of(mixed(taken.key, taken.thread), &fresh);
	if (known && !fresh)
		return;
	const std::uint32_t gates = gates_of(ctx);
	std::uint64_t mask = 0;
	for (std::uint32_t i = 0; i < ctx.depth; i++) {
		const std::uint32_t held = ctx.held[i].val;
		if (!ls_orders(held, taken.val))
			continue;
		const std::uint64_t edge = mixed(held, taken.val);
		bool another = false;
		by_thread_.of(mixed(edge, taken.thread), &another);
		if (ls_edges_peek(&edges_, held, taken.val, gates) == LS_EDGE_NEW ||
		    (another && ++seen_by_[edge] <= kThreadsOfEdge))
			mask |= std::uint64_t{1} << i;
	}
	if (!known) {
		for (int seg; (seg = ls_chains_want(chains_.get())) >= 0;) {
			segments_.emplace_back(LS_CHAIN_SEG * sizeof(ls_chain));
			ls_chains_provide(chains_.get(), seg,
					  static_cast<ls_chain *>(segments_.back().get()));
		}
		if (ls_chains_add(chains_.get(), &ctx, taken.key, taken.val, taken.ip, 0, &chain) ==
		    LS_CHAIN_FULL)
			info_.losses[LS_LOSS_CHAINS]++;
	}
	for (std::uint32_t i = 0; i < ctx.depth; i++)
		if (mask >> i & 1 &&
		    ls_edges_mark(&edges_, ctx.held[i].val, taken.val, gates) == LS_EDGE_FULL)
			info_.losses[LS_LOSS_EDGES]++;
	if (mask)
		sight(ctx, taken, mask);
}

void Player::sight(const ls_ctx &ctx, const Taken &taken, std::uint64_t mask)
{
	const Thread &t = at(taken.thread);
	ls_held_rec held[LS_MAX_DEPTH];
	ls_rec_sight record{};
	for (std::uint32_t i = 0; i < ctx.depth; i++)
		held[i] = {ctx.held[i].val, 0, ctx.held[i].ip, ctx.held[i].lock};
	record.time_ns = taken.time_ns;
	record.new_mask = mask;
	record.ip = taken.ip;
	record.lock = taken.lock;
	record.val = taken.val;
	record.chain = ls_tagtab_find(&chains_->tab, taken.key) & LS_CHAIN_INDEX;
	if (record.chain == LS_CHAIN_LOST)
		record.chain = 0;
	record.stack = taken.stack;
	record.pid = t.pid;
	record.tgid = t.tgid;
	record.nr_held = static_cast<__u16>(ctx.depth);
	record.cpu = taken.cpu;
	fill(record.comm, t.comm);
	if (sights_ == limits_.sights ||
	    !log_.put(record, LS_REC_SIGHT, held, ctx.depth * sizeof(held[0])))
		info_.losses[LS_LOSS_RECORDS]++;
	else
		sights_++;
}

void Player::release(const Event &event, std::uint32_t own)
{
	info_.releases++;
	const std::uint32_t id = lock_numbers_.find(label(event.object));
	if (!id || !own) {
		info_.unknown_releases++;
		return;
	}
	Thread &t = at(own);
	const std::uint64_t lock = lock_address(id);
	if (const auto again = t.again.find(lock); again != t.again.end()) {
		if (!--again->second)
			t.again.erase(again);
		return;
	}
	const int held = ls_held_find(&t.ctx, lock);
	if (held >= 0)
		ls_held_remove(&t.ctx, static_cast<ls_u32>(held));
	else if (t.ctx.lost)
		t.ctx.lost--;
	else
		info_.unknown_releases++;
}

/* All that @from did up to now comes before what @to does from now on. */
void Player::pass(std::uint32_t from, std::uint32_t to)
{
	Thread &a = at(from), &b = at(to);
	if (b.known.size() < threads_.size() + 1)
		b.known.resize(threads_.size() + 1);
	for (std::size_t i = 0; i < a.known.size(); i++)
		b.known[i] = std::max(b.known[i], a.known[i]);
	b.known[from] = a.stamp;
	if (a.stamp < LS_STAMP_MASK / 2)
		a.stamp++;
	else
		accesses_.losses[LS_ALOSS_EVENTS]++;
}

void Player::fork(std::uint32_t parent, std::uint32_t child)
{
	if (!at(child).live)
		live_++;
	at(child).live = true;
	pass(parent, child);
}

void Player::join(std::uint32_t parent, std::uint32_t child)
{
	if (at(child).live)
		live_--;
	at(child).live = false;
	pass(child, parent);
}

Image Player::finish(const std::string &release)
{
	Image image;
	/* It never met another thread: what it did is no order between threads. */
	deferred_.clear();
	for (std::uint32_t i = 1; i <= chains_->nr; i++)
		image.chains.push_back(*ls_chains_get(chains_.get(), i));
	image.log = log_.take();
	fill(info_.release, release);
	info_.log_bytes = image.log.size();
	info_.classes = lock_numbers_.size();
	info_.edges = edges_.nr;
	info_.chains = chains_->nr;
	info_.sights = sights_;
	info_.findings = findings_;
	info_.max_classes = limits_.locks;
	info_.max_edges = limits_.edges;
	info_.max_chains = limits_.chains;
	image.info = info_;
	if (accesses_.seen) {
		accesses_.sites = static_cast<__u32>(counts_.size());
		image.accesses = accesses_;
		image.access_counts = std::move(counts_);
	}
	return image;
}

} // namespace lockscope::replay
