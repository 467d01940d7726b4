// SPDX-License-Identifier: GPL-2.0
#include "recover/printk.h"

#include "util/printable.h"

#include <algorithm>
#include <cstdio>

namespace lockscope::recover {

namespace {

constexpr unsigned kMostDescriptorBits = 24, kMostTextBits = 30;
/* States of a descriptor, in its two highest bits. */
constexpr unsigned kStateShift = 62;
constexpr std::uint64_t kIdMask = (std::uint64_t{1} << kStateShift) - 1;
constexpr std::uint64_t kCommitted = 1, kFinalized = 2;

/// Offsets, in bytes.
struct Layout {
	std::uint32_t descs, infos, count_bits, head, tail, desc_bytes, state, lpos, begin, next,
		info_bytes, seq, ts, text_len, text_bits, text_data;
};

std::optional<Layout> layout_of(const Description &d)
{
	bool all = true;
	const auto take = [&](std::optional<std::uint32_t> value) {
		all = all && value && *value < 65536;
		return value.value_or(0);
	};
	const auto ring = take(d.offset("printk_ringbuffer.desc_ring")),
		   text = take(d.offset("printk_ringbuffer.text_data_ring"));
	const Layout out = {
		.descs = ring + take(d.offset("prb_desc_ring.descs")),
		.infos = ring + take(d.offset("prb_desc_ring.infos")),
		.count_bits = ring + take(d.offset("prb_desc_ring.count_bits")),
		.head = ring + take(d.offset("prb_desc_ring.head_id")),
		.tail = ring + take(d.offset("prb_desc_ring.tail_id")),
		.desc_bytes = take(d.size("prb_desc")),
		.state = take(d.offset("prb_desc.state_var")),
		.lpos = take(d.offset("prb_desc.text_blk_lpos")),
		.begin = take(d.offset("prb_data_blk_lpos.begin")),
		.next = take(d.offset("prb_data_blk_lpos.next")),
		.info_bytes = take(d.size("printk_info")),
		.seq = take(d.offset("printk_info.seq")),
		.ts = take(d.offset("printk_info.ts_nsec")),
		.text_len = take(d.offset("printk_info.text_len")),
		.text_bits = text + take(d.offset("prb_data_ring.size_bits")),
		.text_data = text + take(d.offset("prb_data_ring.data")),
	};
	return all ? std::optional(out) : std::nullopt;
}

} // namespace

std::string kernel_messages(KernelMemory &kernel, const Description &description)
{
	const auto layout = layout_of(description);
	const auto symbol = description.symbol("prb");
	if (!layout || !symbol)
		return {};
	const Layout &l = *layout;
	const auto ring = kernel.get<std::uint64_t>(*symbol);
	if (!ring)
		return {};
	const auto descs = kernel.get<std::uint64_t>(*ring + l.descs),
		   infos = kernel.get<std::uint64_t>(*ring + l.infos),
		   head = kernel.get<std::uint64_t>(*ring + l.head),
		   tail = kernel.get<std::uint64_t>(*ring + l.tail),
		   data = kernel.get<std::uint64_t>(*ring + l.text_data);
	const auto count_bits = kernel.get<std::uint32_t>(*ring + l.count_bits),
		   text_bits = kernel.get<std::uint32_t>(*ring + l.text_bits);
	if (!descs || !infos || !head || !tail || !data || !count_bits || !text_bits ||
	    *count_bits > kMostDescriptorBits || *text_bits > kMostTextBits)
		return {};
	const std::uint64_t count = std::uint64_t{1} << *count_bits,
			    text_mask = (std::uint64_t{1} << *text_bits) - 1;
	std::string out;
	const std::uint64_t first = *tail & kIdMask;
	const std::uint64_t wanted = std::min((((*head & kIdMask) - first) & kIdMask) + 1, count);
	for (std::uint64_t i = 0; i < wanted; i++) {
		const std::uint64_t id = (first + i) & kIdMask, at = id & (count - 1);
		const std::uint64_t desc = *descs + at * l.desc_bytes,
				    info = *infos + at * l.info_bytes;
		const auto state = kernel.get<std::uint64_t>(desc + l.state),
			   begin = kernel.get<std::uint64_t>(desc + l.lpos + l.begin),
			   next = kernel.get<std::uint64_t>(desc + l.lpos + l.next),
			   time = kernel.get<std::uint64_t>(info + l.ts);
		const auto length = kernel.get<std::uint16_t>(info + l.text_len);
		if (!state || !begin || !next || !time || !length || (*state & kIdMask) != id ||
		    (*state >> kStateShift != kCommitted && *state >> kStateShift != kFinalized) ||
		    *begin & 1)
			continue;
		/* Text that does not fit at the end of the buffer lies at its start. Its id comes
		 * first. */
		const bool wraps =
			*begin >> *text_bits != *next >> *text_bits && (*next & text_mask) != 0;
		const std::uint64_t from = wraps ? 0 : *begin & text_mask;
		std::string text(std::min<std::uint64_t>(*length, text_mask - from + 1), 0);
		if (text.empty() || !kernel.read(*data + from + 8, text.data(), text.size()))
			continue;
		char stamp[40];
		std::snprintf(stamp, sizeof(stamp), "[%5llu.%06llu] ",
			      static_cast<unsigned long long>(*time / 1000000000),
			      static_cast<unsigned long long>(*time / 1000 % 1000000));
		out += stamp + printable(text) + "\n";
	}
	return out;
}

} // namespace lockscope::recover
