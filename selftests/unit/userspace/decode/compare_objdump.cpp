// SPDX-License-Identifier: GPL-2.0
// compare_objdump FILE: decodes every function of a module and compares what the
// decoder finds with what objdump says, instruction by instruction. Prints what
// differs; exits 1 then.
#include "objdump.h"

#include "decode/code.h"

#include <cstdio>
#include <string>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr int kMaxTold = 20;

struct Tally {
	std::size_t functions = 0, instructions = 0, sites = 0, stack = 0, unsupported = 0;
	int differences = 0;

	void differs(const Function &function, std::uint64_t offset, const std::string &text,
		     const std::string &how)
	{
		if (++differences <= kMaxTold)
			std::printf("%s+0x%llx: %s: %s\n", function.name.c_str(),
				    static_cast<unsigned long long>(offset), text.c_str(),
				    how.c_str());
	}
};

std::string words(const AccessSite &site)
{
	char text[160];
	const auto &where = site.where;
	std::snprintf(text, sizeof(text), "%d%s of %d, %s%s%d+%d*%d%+d, length %d",
		      static_cast<int>(site.op), site.atomic ? " atomic" : "", site.size,
		      where.segment == Segment::Gs ? "gs:" : "", where.rip_relative ? "rip " : "",
		      where.base, where.index, where.scale, where.disp, site.length);
	return text;
}

bool same(const AccessSite &a, const AccessSite &b)
{
	return a.op == b.op && a.size == b.size && a.atomic == b.atomic && a.length == b.length &&
	       a.where == b.where;
}

void compare(const Function &function, std::span<const std::uint8_t> bytes,
	     const std::map<std::uint64_t, DumpedInstruction> &dump, Tally &tally)
{
	const FunctionSites decoded = decode_function(bytes, function.address);
	bool pushed = false, frame_pointer = false;
	auto site = decoded.sites.begin();
	FunctionSites expected;
	for (std::size_t at = 0; at < bytes.size();) {
		const auto line = dump.find(function.address + at);
		if (line == dump.end()) {
			tally.differs(function, at, "", "objdump has no instruction here");
			return;
		}
		const auto &text = line->second.text;
		if (pushed && text.find("movq   %rsp,%rbp") != text.npos)
			frame_pointer = true;
		pushed = text.find("pushq  %rbp") != text.npos;

		const Instruction here = decode_instruction(bytes.subspan(at), frame_pointer);
		if (here.length != line->second.length)
			tally.differs(function, at, text, "length " + std::to_string(here.length));
		const Expected want = expect(line->second, frame_pointer);
		if (!want.unknown.empty())
			tally.differs(function, at, text, "unknown to this test");
		else if (here.memory != want.memory)
			tally.differs(function, at, text,
				      "verdict " + std::to_string(static_cast<int>(here.memory)));
		else if (want.memory == Instruction::Memory::Unknown && here.why != want.why)
			tally.differs(function, at, text, describe(here.why));
		else if (want.memory == Instruction::Memory::Stack &&
			 !(here.site.where == want.site.where))
			tally.differs(function, at, text, words(here.site));

		/* The function as a whole has to come to the same. */
		expected.instructions++;
		expected.stack += want.memory == Instruction::Memory::Stack;
		if (want.memory == Instruction::Memory::Unknown)
			expected.unsupported[static_cast<std::size_t>(want.why)]++;
		if (want.memory == Instruction::Memory::Site) {
			while (site != decoded.sites.end() && site->offset < at)
				tally.differs(function, site++->offset, "",
					      "a site that objdump has not");
			if (site == decoded.sites.end() || site->offset != at)
				tally.differs(function, at, text, "no site");
			else if (!same(*site++, want.site))
				tally.differs(function, at, text, words(site[-1]));
		}
		at += line->second.length;
	}
	if (site != decoded.sites.end())
		tally.differs(function, site->offset, "", "a site that objdump has not");
	if (expected.stack != decoded.stack || expected.unsupported != decoded.unsupported ||
	    expected.instructions != decoded.instructions)
		tally.differs(function, 0, "", "counts of the function");
	tally.functions++;
	tally.instructions += decoded.instructions;
	tally.sites += decoded.sites.size();
	tally.stack += decoded.stack;
	for (const auto n : decoded.unsupported)
		tally.unsupported += n;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	auto code = open_elf_code(argv[1]);
	if (!code) {
		std::printf("%s\n", code.error().what.c_str());
		return 3;
	}
	const auto dump = run_objdump(argv[1]);
	if (!dump) {
		std::printf("objdump or readelf cannot be run on %s\n", argv[1]);
		return 3;
	}
	Tally tally;
	for (const auto &function : (*code)->functions()) {
		auto bytes = (*code)->read(function);
		const auto section = dump->find(function.section);
		if (!bytes || section == dump->end())
			tally.differs(function, 0, "", "no such section");
		else
			compare(function, *bytes, section->second, tally);
	}
	std::printf(
		"%zu functions, %zu instructions, %zu sites, %zu on the stack, %zu unsupported, "
		"%d differences\n",
		tally.functions, tally.instructions, tally.sites, tally.stack, tally.unsupported,
		tally.differences);
	return tally.differences == 0 && tally.functions > 0 ? 0 : 1;
}
