// SPDX-License-Identifier: GPL-2.0
// Any bytes as machine code: decoded without reading beyond them, cut off anywhere
// to the same beginning.
#include "decode/access.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace lockscope;

namespace {

void check(bool holds)
{
	if (!holds)
		std::abort();
}

void check_sites(const FunctionSites &decoded, std::size_t size)
{
	std::uint64_t end = 0;
	for (const auto &site : decoded.sites) {
		check(site.offset >= end && site.length >= 1 && site.length <= 15);
		end = site.offset + site.length;
		check(std::has_single_bit(site.size) && site.size <= 64);
		const auto &where = site.where;
		check(where.base < 16 || where.base == kNoRegister);
		check(where.index < 16 || where.index == kNoRegister);
		check(where.index != kRsp && std::has_single_bit(where.scale) && where.scale <= 8);
		check(!where.rip_relative ||
		      (where.base == kNoRegister && where.index == kNoRegister));
		check(where.segment == Segment::Gs || where.base != kRsp);
	}
	check(end <= size);
	check(decoded.sites.size() + decoded.stack <= decoded.instructions);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	if (size < 2)
		return 0;
	/* Memory of exactly that size, so that one byte more is seen. */
	const std::uint8_t cut = data[0], refuse = data[1];
	const std::vector<std::uint8_t> code(data + 2, data + size);
	const auto whole = decode_function(code, 0xffffffff81000000);
	check_sites(whole, code.size());

	const std::vector<std::uint8_t> part(code.begin(),
					     code.begin() + (code.empty() ? 0 : cut % code.size()));
	const auto shorter = decode_function(part, 0xffffffff81000000);
	check_sites(shorter, part.size());
	/* A breakpoint may look like a filler when what follows it is gone. */
	if (whole.count(Unsupported::Breakpoint) == 0) {
		check(shorter.sites.size() <= whole.sites.size());
		for (std::size_t i = 0; i < shorter.sites.size(); i++)
			check(shorter.sites[i].offset == whole.sites[i].offset &&
			      shorter.sites[i].where == whole.sites[i].where);
	}

	const AddressRange range{0xffffffff81000000 + refuse, 0xffffffff81000000 + refuse + 8u};
	const auto fewer = decode_function(code, 0xffffffff81000000, {&range, 1});
	check(fewer.sites.size() <= whole.sites.size());
	for (const auto &site : fewer.sites)
		check(site.offset >= refuse + 8u || site.offset + site.length <= refuse);
	return 0;
}
