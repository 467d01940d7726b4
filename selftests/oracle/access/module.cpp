// SPDX-License-Identifier: GPL-2.0
#include "module.h"

#include <algorithm>
#include <cstring>

namespace lockscope::access_oracle {

namespace {

constexpr std::uint64_t kStaticData = 0xffffffff82000000u, kStaticLocks = 0xffffffff83000000u,
			kText = 0xffffffff81000000u, kHeap = 0xffff888000000000u,
			kPerCpu = 0xffff88ffff000000u;
constexpr std::uint32_t kObjectBytes = 256; ///< words at the front, locks behind
constexpr std::uint32_t kFunctionBytes = 1024, kLinesBytes = 16;
/// Items of work end: as LS_ENDED in kmod/.
constexpr std::uint64_t kEnded = 1;
constexpr std::uint64_t kPlaces = 1u << 16;

template <std::size_t N> void fill(char (&field)[N], const std::string &text)
{
	std::memset(field, 0, N);
	std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

std::size_t at(int index)
{
	return static_cast<std::size_t>(index);
}

} // namespace

Module::Module()
	: sets_(32768, 4 * 32768, 17), reported_memory_(ls_tagtab_bytes(14)), ops_(kSites),
	  order_(std::make_unique<ls_order>())
{
	ls_tagtab_init(&reported_, reported_memory_.get(), 14);
	accesses_.resize(1);
	auto &info = image_.info;
	info.abi_major = LS_ABI_MAJOR;
	info.abi_minor = LS_ABI_MINOR;
	info.active = 1;
	info.instance = 1;
	fill(info.release, "6.1.0-oracle-amd64");
	image_.accesses.emplace();
	image_.accesses->mode = LS_ACCESSES_ALL;
}

template <typename Raw>
void Module::put(Raw record, ls_rec_type type, const void *tail, std::size_t bytes)
{
	record.hdr.len = static_cast<__u32>(sizeof(Raw) + bytes);
	record.hdr.type = type;
	record.hdr.flags = 0;
	auto append = [&](const void *data, std::size_t size) {
		const auto *from = static_cast<const std::byte *>(data);
		image_.log.insert(image_.log.end(), from, from + size);
	};
	append(&record, sizeof(Raw));
	if (bytes)
		append(tail, bytes);
	image_.info.log_bytes = image_.log.size();
}

std::uint32_t Module::pid_of(int context) const
{
	return 100 + index_ * 8 + static_cast<std::uint32_t>(context);
}

/* ls_access_context() */
std::uint32_t Module::context_of(int context) const
{
	const Context &c = program_->contexts[at(context)];
	return c.level ? 0x8000u | static_cast<std::uint32_t>(c.level) << 12 |
				 static_cast<std::uint32_t>(c.cpu)
		       : pid_of(context) & 0x7fff;
}

std::uint64_t Module::object_address(int object) const
{
	return kHeap + salt_ * 0x1000 + static_cast<std::uint64_t>(object) * kObjectBytes;
}

std::uint64_t Module::address(int word) const
{
	const Word &w = program_->words[at(word)];
	const auto offset = static_cast<std::uint64_t>(word);
	if (w.object != kNone)
		return object_address(w.object) + offset * kWordBytes;
	/* What is near another word is taken to be its link. */
	return w.cpu != kNone ? kPerCpu + (salt_ * 4 + offset) * 1024
			      : kStaticData + (salt_ * 4 + offset) * kWordBytes;
}

std::uint64_t Module::lock_address(int lock) const
{
	const Lock &l = program_->locks[at(lock)];
	const auto number = static_cast<std::uint64_t>(lock);
	return l.object != kNone ? object_address(l.object) + 128 + number * 16
				 : kStaticLocks + (salt_ * 4 + number) * 64;
}

std::uint64_t Module::thing(Do what, int number) const
{
	const auto n = static_cast<std::uint64_t>(number);
	return kHeap + salt_ * 0x1000 + 0x800 + (what == Do::Complete ? 0 : 0x100) + n * 32;
}

std::uint64_t Module::ip(int function, int place)
{
	const std::pair key{static_cast<int>(index_), function};
	const auto base =
		functions_.try_emplace(key, kText + functions_.size() * kFunctionBytes).first->second;
	const std::uint64_t ip = base + 16 + static_cast<std::uint64_t>(place) * kLinesBytes;
	symbols_[ip] = {base, "p" + std::to_string(index_) + "_f" + std::to_string(function)};
	return ip;
}

std::uint32_t Module::stack(std::uint64_t ip)
{
	const auto [known, added] = stacks_.try_emplace(ip, stacks_.size() + 1);
	if (!added)
		return known->second;
	ls_rec_stack record{};
	record.id = known->second;
	record.nr = 1;
	put(record, LS_REC_STACK, &ip, sizeof(ip));
	image_.info.stacks = record.id;
	return record.id;
}

/* data_id() */
std::uint32_t Module::data_of(int word, std::uint32_t *offset)
{
	const Word &w = program_->words[at(word)];
	const std::string prefix = "p" + std::to_string(index_);
	ls_rec_data record{};
	record.kind = static_cast<__u8>(w.object != kNone ? LS_DATA_SLAB
					: w.cpu != kNone  ? LS_DATA_PERCPU
							  : LS_DATA_STATIC);
	record.object_size = w.object != kNone ? kObjectBytes : 0;
	const std::string name = w.object != kNone ? prefix + "_o" + std::to_string(w.object)
						   : prefix + "_w" + std::to_string(word);
	if (w.object != kNone)
		*offset += static_cast<std::uint32_t>(word * kWordBytes);
	const auto [known, added] = data_.try_emplace(name, data_.size() + 1);
	if (added) {
		record.id = known->second;
		fill(record.module, "vmlinux");
		fill(record.name, name);
		put(record, LS_REC_DATA, nullptr, 0);
	}
	return known->second;
}

std::uint32_t Module::class_of(int lock)
{
	const Lock &l = program_->locks[at(lock)];
	const std::string name = "p" + std::to_string(index_) + "_lock" + std::to_string(lock);
	const auto [known, added] = classes_.try_emplace(name, classes_.size() + 1);
	if (!added)
		return known->second;
	ls_rec_class record{};
	record.id = record.canonical = known->second;
	record.kind = static_cast<__u8>(l.kind);
	record.origin = l.object == kNone ? LS_ORIGIN_STATIC : LS_ORIGIN_SLAB;
	if (l.object != kNone) {
		record.offset = static_cast<__u32>(128 + lock * 16);
		record.object_size = kObjectBytes;
	}
	fill(record.module, "vmlinux");
	fill(record.name, name);
	put(record, LS_REC_CLASS, nullptr, 0);
	image_.info.classes = record.id;
	return record.id;
}

/* new_site() and take_access() */
std::uint32_t Module::site(Now &n)
{
	const Step &step = program_->steps[at(n.step)];
	const int object = program_->words[at(n.word)].object;
	std::uint32_t offset = static_cast<std::uint32_t>(n.place->offset);
	const std::uint32_t data = data_of(n.word, &offset);
	std::vector<std::uint64_t> key{n.ip, n.place->op, static_cast<std::uint64_t>(n.place->size),
				       data, offset, n.where};
	std::vector<ls_guard_rec> guards;
	for (int lock : order_taken_[at(step.context)]) {
		const Lock &l = program_->locks[at(lock)];
		ls_guard_rec g{};
		g.val = class_of(lock) | n.level << LS_VAL_LEVEL_SHIFT;
		if (!(*machine_)[step.context].held.at(lock))
			g.val |= (l.kind == LS_KIND_RWLOCK ? LS_RECURSIVE : LS_SHARED)
				 << LS_VAL_READ_SHIFT;
		g.relation = l.object == kNone	   ? LS_REL_STATIC
			     : l.object == object ? LS_REL_SELF
						   : LS_REL_OTHER;
		g.lock_offset = l.object == kNone ? 0 : static_cast<__u32>(128 + lock * 16);
		g.ip = taken_at_[at(step.context)].at(lock);
		g.lock = lock_address(lock);
		key.insert(key.end(), {g.val & (LS_VAL_CLASS_MASK | LS_VAL_READ_MASK), g.ip,
				       g.relation, g.lock_offset});
		guards.push_back(g);
	}
	const auto [known, added] =
		sites_.try_emplace(std::move(key), static_cast<std::uint32_t>(accesses_.size()));
	image_.access_counts.resize(sites_.size());
	image_.access_counts[known->second - 1]++;
	if (!added)
		return known->second;
	ls_rec_access record{};
	record.id = known->second;
	record.data = data;
	record.offset = offset;
	record.size = static_cast<__u16>(n.place->size);
	record.op = static_cast<__u16>(n.place->op);
	record.ip = n.ip;
	record.time_ns = record.id * 1000ull;
	record.where = n.where;
	record.stack = stack(n.ip);
	record.pid = record.tgid = pid_of(step.context);
	record.nr_guards = static_cast<__u16>(guards.size());
	record.cpu = static_cast<__u16>(program_->contexts[at(step.context)].cpu);
	fill(record.comm, "task" + std::to_string(record.pid));
	put(record, LS_REC_ACCESS, guards.data(), guards.size() * sizeof(guards[0]));
	accesses_.push_back(record);
	static_cast<ls_u8 *>(ops_.get())[record.id] = static_cast<ls_u8>(record.op);
	image_.accesses->sites = record.id;
	return record.id;
}

/* collect() and look() */
void Module::access(const Step &step, int number)
{
	const auto &state = (*machine_)[step.context];
	const Context &context = program_->contexts[at(step.context)];
	const auto cpu = at(context.cpu);
	Now n;
	n.step = number;
	n.place = &program_->place(step);
	n.word = n.place->word;
	const Word &word = program_->words[at(n.word)];
	n.addr = address(n.word) + static_cast<std::uint64_t>(n.place->offset);
	n.ip = ip(n.place->function, step.arg);
	n.context = context_of(step.context);
	n.level = context.level;
	n.order = order_.get();
	n.where = n.level << LS_VAL_LEVEL_SHIFT;
	if (state.irq_off)
		n.where |= LS_VAL_IRQ_OFF;
	if (state.bh_off || context.level == LS_SOFTIRQ)
		n.where |= LS_VAL_BH_OFF;
	if (state.preempt_off)
		n.where |= LS_WHERE_PREEMPT_OFF;
	image_.accesses->seen++;

	std::vector<ls_u64> elements;
	for (int lock : order_taken_[at(step.context)])
		elements.push_back(ls_lockset_element(lock_address(lock), !state.held.at(lock)));
	if (state.run != kNone)
		elements.push_back(ls_lockset_element(thing(Do::Queue, state.run), false));
	if (word.cpu == context.cpu) {
		const auto held = ls_lockset_of_cpu(n.level, state.irq_off,
						    n.where & LS_VAL_BH_OFF, state.preempt_off);
		for (std::uint32_t i = LS_PSEUDO_PREEMPT; i <= LS_PSEUDO_IRQ; i++)
			if (held >> i & 1)
				elements.push_back(ls_lockset_element(i, false));
	}

	/* signature(): all that decides about the lockset, and when it is. */
	std::uint64_t signature = ls_mix(n.context + (static_cast<std::uint64_t>(clock_) << 16)) + n.where;
	for (auto element : elements)
		signature = ls_mix(signature + element);
	Shadow &first = shadow_[n.addr >> 3];
	const auto how = ls_same_how(n.place->op, static_cast<ls_u32>(n.place->size));
	ls_same &q = same_[cpu][ls_same_place(n.addr, n.ip)];
	if (ls_same_again(&q, n.addr, n.ip, signature, first.granule.state, how)) {
		judged_.push_back({number, n.place->offset / 8, {}, {}});
		for (std::uint32_t i = 0; i < LS_SHADOW_ENTRIES; i++)
			if (ls_shadow_live(&first.granule, i) &&
			    ls_entry_site(first.granule.entry[i]) == q.site &&
			    ls_entry_context(first.granule.entry[i]) == n.context)
				first.steps[i].insert(number);
		return;
	}

	n.lockset = sets_.intern(elements);
	if (n.lockset == LS_LOCKSET_NONE) {
		losses++;
		return;
	}
	n.way = {n.addr, word.object != kNone ? object_address(word.object) : 0, 0, n.context,
		 n.lockset, word.object == kNone && word.cpu == kNone};
	ls_object *object = ls_order_follow(order_.get(), &n.way, &sets_.all, &clock_, &left_[cpu]);
	n.site = site(n);
	judge(n);
	if (ls_same_stays(n.addr, static_cast<ls_u32>(n.place->size), first.granule.state))
		q = {n.addr, n.ip, signature, first.granule.state,
		     static_cast<ls_u64>(n.context) << 16 | n.lockset, n.way.unit, object, how, n.site};
}

/* judge() */
void Module::judge(Now &n)
{
	ls_shadow_rules rules{};
	rules.sets = &sets_.all;
	rules.ops = static_cast<ls_u8 *>(ops_.get());
	rules.pass_on = true;
	rules.cookie = &n;
	rules.ordered = [](void *cookie, ls_u32 from, ls_u32, ls_u32 stamp) {
		const auto *now = static_cast<const Now *>(cookie);
		return ls_order_known(now->order, &now->way, from, stamp);
	};
	ls_shadow_access a{};
	a.site = n.site;
	a.lockset = n.lockset;
	a.stamp = clock_ & LS_STAMP_MASK;
	a.context = static_cast<ls_u16>(n.context);
	a.op = static_cast<ls_u8>(n.place->op);
	const std::uint64_t end = n.addr + static_cast<std::uint64_t>(n.place->size);
	for (std::uint64_t at_byte = n.addr; at_byte < end; at_byte = (at_byte | 7) + 1) {
		Shadow &shadow = shadow_[at_byte >> 3];
		a.bytes = ls_shadow_bytes(at_byte, end);
		Judged judged{n.step, static_cast<int>((at_byte - address(n.word)) / 8), {}, {}};
		const ls_granule before = shadow.granule;
		for (std::uint32_t i = 0; i < LS_SHADOW_ENTRIES; i++)
			if (ls_shadow_live(&before, i))
				judged.remembered.insert(shadow.steps[i].begin(), shadow.steps[i].end());
		const auto r = ls_shadow_step(&shadow.granule, &a, &rules);
		if (r.unknown)
			losses++;
		auto race = [&](std::uint32_t other, std::uint32_t context) {
			for (std::uint32_t i = 0; i < LS_SHADOW_ENTRIES; i++)
				if (ls_shadow_live(&before, i) &&
				    ls_entry_site(before.entry[i]) == other &&
				    ls_entry_context(before.entry[i]) == context)
					judged.others.push_back(shadow.steps[i]);
			tell(n, shadow, other, context);
		};
		if (r.race)
			race(r.other, r.other_context);
		for (std::uint32_t i = 0; i < r.nr_further; i++)
			race(r.further[i].site, r.further[i].context);
		/* Its entry: a loop over bytes adds up, anything else takes the place. */
		for (std::uint32_t i = 0; i < LS_SHADOW_ENTRIES; i++) {
			if (!ls_shadow_live(&shadow.granule, i)) {
				shadow.steps[i].clear();
				continue;
			}
			const auto entry = shadow.granule.entry[i];
			if (ls_entry_site(entry) != n.site || ls_entry_context(entry) != n.context)
				continue;
			const bool adds = ls_shadow_live(&before, i) &&
					  ls_entry_covers(before.entry[i] | LS_ENTRY_BYTES, entry) &&
					  ls_stamp_of(before.stamps, i) ==
						  ls_stamp_of(shadow.granule.stamps, i);
			if (!adds)
				shadow.steps[i].clear();
			shadow.steps[i].insert(n.step);
		}
		judged_.push_back(std::move(judged));
	}
}

/* ls_report_race() and take_race() */
void Module::tell(const Now &n, const Shadow &shadow, std::uint32_t other, std::uint32_t context)
{
	if (!reported_sites_.insert({other, n.site}).second)
		return;
	ls_rec_race race{};
	std::vector<ls_history_rec> history;
	for (std::uint32_t i = 0; i < LS_SHADOW_ENTRIES; i++) {
		const auto entry = shadow.granule.entry[i];
		if (ls_shadow_live(&shadow.granule, i))
			history.push_back({ls_entry_site(entry),
					   static_cast<__u16>(ls_entry_context(entry)),
					   static_cast<__u8>(ls_entry_bytes(entry)),
					   static_cast<__u8>(ls_entry_initial(entry))});
	}
	race.first = other;
	race.second = n.site;
	race.first_pid = context < 0x8000 ? context : 0;
	race.second_pid = n.level ? 0 : pid_of(program_->steps[at(n.step)].context);
	race.addr = n.addr;
	race.nr = static_cast<__u32>(history.size());
	race.id = findings_ + 1;
	race.time_ns = race.id * 1000ull;
	auto side = [&](std::uint32_t id) {
		const auto *access = &accesses_[id];
		return ls_race_place{access, symbols_.at(access->ip).first};
	};
	const ls_race_place first = side(race.first), second = side(race.second);
	switch (ls_race_take(&reported_, &first, &second, race.flags, &race.id)) {
	case LS_RACE_NEW:
		findings_++;
		image_.info.findings = findings_;
		image_.accesses->races++;
		[[fallthrough]];
	case LS_RACE_MORE:
		put(race, LS_REC_RACE, history.data(), history.size() * sizeof(history[0]));
		break;
	case LS_RACE_NO_ROOM:
		losses++;
		break;
	case LS_RACE_KNOWN:
		break;
	}
}

void Module::step(const Step &step, int number)
{
	const auto context = at(step.context);
	auto *order = order_.get();
	const std::uint32_t who = context_of(step.context);
	machine_->take(step);
	switch (step.what) {
	case Do::Access:
		access(step, number);
		break;
	case Do::Lock:
	case Do::Read:
		taken_at_[context][step.arg] = ip(20 + step.context, step.arg);
		order_taken_[context].push_back(step.arg);
		break;
	case Do::Unlock:
		std::erase(order_taken_[context], step.arg);
		break;
	case Do::Complete:
	case Do::Queue:
		ls_order_completed(order, thing(step.what, step.arg), who, &clock_);
		break;
	case Do::Wait:
		ls_order_waited(order, thing(Do::Complete, step.arg), who, &clock_);
		break;
	case Do::Run:
		ls_order_waited(order, thing(Do::Queue, step.arg), who, &clock_);
		break;
	case Do::End:
		ls_order_completed(order, thing(Do::Queue, step.arg) | kEnded, who, &clock_);
		break;
	case Do::Flush:
		ls_order_waited(order, thing(Do::Queue, step.arg) | kEnded, who, &clock_);
		break;
	case Do::Reuse:
		/* ls_object_forget() */
		for (std::uint32_t byte = 0; byte < kObjectBytes; byte += 8)
			if (const auto s = shadow_.find((object_address(step.arg) + byte) >> 3);
			    s != shadow_.end())
				ls_shadow_forget(&s->second.granule);
		ls_order_forget(order, object_address(step.arg));
		break;
	default:
		break;
	}
}

std::vector<Judged> Module::run(const Program &program, std::uint32_t index, std::uint64_t salt)
{
	program_ = &program;
	machine_ = std::make_unique<Machine>(program);
	index_ = index;
	salt_ = salt % kPlaces;
	taken_at_.assign(program.contexts.size(), {});
	order_taken_.assign(program.contexts.size(), {});
	shadow_.clear();
	judged_.clear();
	for (std::size_t i = 0; i < program.steps.size(); i++)
		step(program.steps[i], static_cast<int>(i));
	return std::move(judged_);
}

Image Module::finish()
{
	for (const auto &[address, function] : symbols_) {
		ls_rec_symbol record{};
		record.ip = address;
		record.offset = static_cast<__u32>(address - function.first);
		record.size = kFunctionBytes;
		fill(record.function, function.second);
		fill(record.module, "vmlinux");
		put(record, LS_REC_SYMBOL, nullptr, 0);
	}
	for (auto &count : image_.access_counts)
		count |= LS_COUNT_SHARED;
	return std::move(image_);
}

} // namespace lockscope::access_oracle
