// SPDX-License-Identifier: GPL-2.0
#include "recover/tables.h"

#include "util/text.h"

#include <algorithm>
#include <cstring>

namespace lockscope::recover {

namespace {

constexpr std::uint32_t kMostCpus = 8192, kMostClasses = LS_VAL_CLASS_MASK + 1, kMostPrims = 4096,
			kMostChains = 1u << 22;

/// Copy elements from blocks that an array of pointers has. Returns how many bytes there are, at
/// most @want; the first block that is not mapped ends it.
std::size_t read_blocks(KernelMemory &kernel, const ls_anchor_array &blocks, std::byte *to,
			std::size_t want)
{
	std::size_t done = 0;
	for (std::uint32_t i = 0; blocks.bytes && i < blocks.nr && done < want; i++) {
		const auto at = kernel.get<std::uint64_t>(blocks.at + std::uint64_t{i} * 8);
		const auto part = std::min<std::size_t>(blocks.bytes, want - done);
		if (!at || !*at || !kernel.read(*at, to + done, part))
			break;
		done += part;
	}
	return done;
}

/// The part of a log that is whole records.
std::size_t whole_records(const std::vector<std::byte> &log, std::size_t size)
{
	std::size_t at = 0;
	while (size - at >= sizeof(ls_rec)) {
		ls_rec header;
		std::memcpy(&header, log.data() + at, sizeof(header));
		if (header.len < sizeof(header) || header.len & 7 || header.len > size - at)
			break;
		at += header.len;
	}
	return at;
}

void read_log(KernelMemory &kernel, const ls_anchor &anchor, std::uint64_t bytes, Tables &out)
{
	const auto length = kernel.get<std::uint64_t>(anchor.log_length);
	if (!length || *length > bytes) {
		out.missing.push_back("the log: its length is not there");
		return;
	}
	auto &log = out.image.log;
	log.resize(*length);
	const std::size_t read = read_blocks(kernel, anchor.log, log.data(), log.size());
	log.resize(whole_records(log, read));
	if (log.size() != *length)
		out.missing.push_back("the log from byte " + with_commas(log.size()) + " of " +
				      with_commas(*length) + " on");
	out.image.info.log_bytes = log.size();
}

void read_chains(KernelMemory &kernel, const ls_anchor &anchor, Tables &out)
{
	const auto count = kernel.get<std::uint32_t>(anchor.chain_count);
	if (!count || *count >= kMostChains) {
		out.missing.push_back("the lock chains: their number is not there");
		return;
	}
	if (!*count)
		return;
	/* Chain 0 is unused. */
	std::vector<ls_chain> all(*count + std::size_t{1});
	const std::size_t read =
		read_blocks(kernel, anchor.chains, reinterpret_cast<std::byte *>(all.data()),
			    all.size() * sizeof(all[0])) /
		sizeof(all[0]);
	if (read < all.size())
		out.missing.push_back("lock chains from number " + std::to_string(read) + " of " +
				      std::to_string(*count) + " on");
	all.resize(std::max<std::size_t>(read, 1));
	out.image.chains.assign(all.begin() + 1, all.end());
	out.image.info.chains = static_cast<std::uint32_t>(out.image.chains.size());
}

void read_classes(KernelMemory &kernel, const ls_anchor &anchor, Tables &out)
{
	const auto count = kernel.get<std::uint32_t>(anchor.class_count);
	const ls_anchor_array &a = anchor.classes;
	if (!count || *count >= a.nr || a.nr > kMostClasses || a.bytes != sizeof(ls_class)) {
		out.missing.push_back("the lock classes: their number is not there");
		return;
	}
	out.classes.resize(*count + std::size_t{1});
	std::size_t read = 0;
	for (; read < out.classes.size(); read++)
		if (!kernel.read(a.at + read * sizeof(ls_class), &out.classes[read],
				 sizeof(ls_class)))
			break;
	if (read < out.classes.size())
		out.missing.push_back("lock classes from number " + std::to_string(read) + " on");
	out.classes.resize(read);
	out.image.info.classes = *count;

	ls_classes table{};
	table.table = out.classes.data();
	for (std::uint32_t id = 1; id < out.classes.size(); id++)
		if (ls_class_counts counts{}; ls_classes_counts(&table, id, &counts))
			out.image.counts.push_back(counts);
}

void read_prims(KernelMemory &kernel, const ls_anchor &anchor, Tables &out)
{
	const ls_anchor_array &a = anchor.prims;
	if (a.bytes == sizeof(ls_prim_info) && a.nr <= kMostPrims) {
		out.image.prims.resize(a.nr);
		if (kernel.read(a.at, out.image.prims.data(), a.nr * sizeof(ls_prim_info)))
			return;
		out.image.prims.clear();
	}
	out.missing.push_back("how the lock functions were hooked");
}

/// As ls_info_fill() of the module does it.
void read_counters(KernelMemory &kernel, const ls_anchor &anchor, Tables &out)
{
	ls_info &info = out.image.info;
	const ls_anchor_cpu_layout &l = anchor.cpu_layout;
	bool all = true;
	for (const std::uint64_t cpu : cpu_states(kernel, anchor)) {
		if (!cpu)
			continue;
		std::uint64_t levels[LS_NR_LEVELS], losses[LS_NR_LOSSES];
		const auto releases = kernel.get<std::uint64_t>(cpu + l.releases),
			   unknown = kernel.get<std::uint64_t>(cpu + l.unknown_releases),
			   ring = kernel.get<std::uint64_t>(cpu + l.ring);
		if (!releases || !unknown || !ring ||
		    !kernel.read(cpu + l.acquisitions, levels, sizeof(levels)) ||
		    !kernel.read(cpu + l.losses, losses, sizeof(losses))) {
			all = false;
			continue;
		}
		for (int i = 0; i < LS_NR_LEVELS; i++) {
			info.level_acquisitions[i] += levels[i];
			info.acquisitions += levels[i];
		}
		for (int i = 0; i < LS_NR_LOSSES; i++)
			info.losses[i] += losses[i];
		info.releases += *releases;
		info.unknown_releases += *unknown;
		if (const auto header = kernel.get<ls_ring_header>(*ring))
			info.deferred += header->deferred;
	}
	const auto lost_edges = kernel.get<std::uint64_t>(anchor.lost_edges),
		   cut_searches = kernel.get<std::uint64_t>(anchor.cut_searches);
	const auto edges = kernel.get<std::uint32_t>(anchor.edges),
		   findings = kernel.get<std::uint32_t>(anchor.findings);
	all = all && lost_edges && cut_searches && edges && findings;
	info.losses[LS_LOSS_EDGES] += lost_edges.value_or(0);
	info.losses[LS_LOSS_CYCLES] += cut_searches.value_or(0);
	info.edges = edges.value_or(0);
	info.findings = findings.value_or(0);
	if (!all)
		out.missing.push_back("some counters of losses");
}

void read_access_counts(KernelMemory &kernel, const ls_anchor &anchor, Tables &out)
{
	const ls_anchor_array &a = anchor.access_counts;
	const auto count = kernel.get<std::uint32_t>(anchor.access_count);
	out.image.accesses = anchor.accesses;
	if (!count || *count >= a.nr || a.bytes != sizeof(std::uint32_t)) {
		out.missing.push_back("counts of memory accesses");
		return;
	}
	out.image.access_counts.resize(*count);
	if (!kernel.read(a.at + sizeof(std::uint32_t), out.image.access_counts.data(),
			 *count * sizeof(std::uint32_t))) {
		out.image.access_counts.clear();
		out.missing.push_back("counts of memory accesses");
	}
}

} // namespace

std::vector<std::uint64_t> cpu_states(KernelMemory &kernel, const ls_anchor &anchor)
{
	std::vector<std::uint64_t> out;
	if (anchor.cpu.bytes != sizeof(std::uint64_t))
		return out;
	for (std::uint32_t i = 0; i < std::min(anchor.cpu.nr, kMostCpus); i++)
		out.push_back(kernel.get<std::uint64_t>(anchor.cpu.at + std::uint64_t{i} * 8)
				      .value_or(0));
	return out;
}

Tables read_tables(KernelMemory &kernel, const ls_anchor &anchor, std::uint64_t bytes)
{
	Tables out;
	out.image.info = anchor.info;
	ls_info &info = out.image.info;
	/* These are as of the module's load in the anchor. */
	info.acquisitions = info.releases = info.unknown_releases = info.deferred = 0;
	std::fill(std::begin(info.level_acquisitions), std::end(info.level_acquisitions), 0);
	std::fill(std::begin(info.losses), std::end(info.losses), 0);
	info.release[sizeof(info.release) - 1] = 0;
	info.active = kernel.get<std::int32_t>(anchor.active).value_or(0) != 0;
	read_log(kernel, anchor, bytes, out);
	read_chains(kernel, anchor, out);
	read_classes(kernel, anchor, out);
	read_prims(kernel, anchor, out);
	read_counters(kernel, anchor, out);
	read_access_counts(kernel, anchor, out);
	return out;
}

} // namespace lockscope::recover
