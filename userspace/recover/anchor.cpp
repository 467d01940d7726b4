// SPDX-License-Identifier: GPL-2.0
#include "recover/anchor.h"

#include <algorithm>
#include <cstring>

namespace lockscope::recover {

namespace {

constexpr std::uint64_t kAnchorStep = 4096;
constexpr unsigned char kMagic[LS_ANCHOR_MAGIC_LEN] = LS_ANCHOR_MAGIC;

/// Does the page table that it names lead to it?
bool leads_back(const PhysicalMemory &memory, const ls_anchor &anchor)
{
	if (anchor.levels != 4 && anchor.levels != 5)
		return false;
	KernelMemory kernel(memory, anchor.page_table, anchor.levels);
	return kernel.physical(anchor.at) == anchor.physical;
}

enum class Found { None, Other, Anchor };

/// What the page at @at begins with.
Found look(const PhysicalMemory &memory, std::uint64_t at, ls_anchor &out)
{
	if (!memory.read(at, &out, offsetof(ls_anchor, page_table)) || out.physical != at)
		return Found::None;
	if (out.version != LS_ANCHOR_VERSION || out.bytes != sizeof(out))
		return Found::Other;
	if (!memory.read(at, &out, sizeof(out)) || !leads_back(memory, out))
		return Found::None;
	return Found::Anchor;
}

} // namespace

Result<ls_anchor> find_anchor(const PhysicalMemory &memory, const std::string &name)
{
	std::vector<unsigned char> block(1u << 20);
	ls_anchor anchor{};
	bool other = false;
	for (const auto &range : memory.ranges()) {
		for (std::uint64_t at = range.begin; at < range.end; at += block.size()) {
			const auto n = static_cast<std::size_t>(
				std::min<std::uint64_t>(block.size(), range.end - at));
			if (!memory.read(at, block.data(), n))
				break;
			for (std::size_t i = 0; i + sizeof(kMagic) <= n; i += kAnchorStep) {
				if (std::memcmp(&block[i], kMagic, sizeof(kMagic)) != 0)
					continue;
				switch (look(memory, at + i, anchor)) {
				case Found::Anchor:
					return anchor;
				case Found::Other:
					other = true;
					break;
				case Found::None:
					break;
				}
			}
		}
	}
	if (other)
		return Error{0, name + " is of a machine with another version of lockscope.ko",
			     "use the lockscope that was built with that module",
			     Exit::Environment};
	return Error{0, "nothing of lockscope.ko is in " + name,
		     "give the whole memory of a machine that died with the module loaded: a "
		     "guest's, or a vmcore",
		     Exit::Environment};
}

} // namespace lockscope::recover
