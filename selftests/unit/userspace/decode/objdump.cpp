// SPDX-License-Identifier: GPL-2.0
#include "objdump.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace lockscope::test {

namespace {

using Memory = Instruction::Memory;
using Words = std::set<std::string_view>;

struct Close {
	void operator()(std::FILE *file) const { ::pclose(file); }
};

template <typename Action> bool each_line_of(const std::string &command, Action &&action)
{
	std::unique_ptr<std::FILE, Close> pipe(::popen(command.c_str(), "r"));
	if (!pipe)
		return false;
	char *line = nullptr;
	std::size_t room = 0;
	bool any = false;
	for (ssize_t n; (n = ::getline(&line, &room, pipe.get())) > 0; any = true)
		action(std::string_view(line,
					static_cast<std::size_t>(line[n - 1] == '\n' ? n - 1 : n)));
	std::free(line);
	return any && ::pclose(pipe.release()) == 0;
}

std::string_view trim(std::string_view text)
{
	while (!text.empty() && text.front() == ' ')
		text.remove_prefix(1);
	while (!text.empty() && text.back() == ' ')
		text.remove_suffix(1);
	return text;
}

/// "  [ 4] .text  PROGBITS ...": number of the section with that name.
std::map<std::string, std::size_t> section_numbers(const std::string &path)
{
	std::map<std::string, std::size_t> out;
	each_line_of("readelf -SW '" + path + "'", [&](std::string_view line) {
		const auto open = line.find('['), close = line.find(']');
		if (open == line.npos || close == line.npos || close < open)
			return;
		const auto rest = trim(line.substr(close + 1));
		const auto number =
			std::strtoul(std::string(line.substr(open + 1)).c_str(), nullptr, 10);
		out.emplace(rest.substr(0, rest.find(' ')), number);
	});
	return out;
}

/// The mnemonic and what stands around it.
struct Text {
	Words prefixes;
	std::string_view mnemonic;
	std::vector<std::string_view> operands;
};

Text take_apart(std::string_view line)
{
	static const Words known = {"lock",    "rep",	   "repz",     "repnz", "data16",
				    "addr32",  "cs",	   "ds",       "es",	"ss",
				    "fs",      "gs",	   "rex.W",    "rex",	"bnd",
				    "notrack", "xacquire", "xrelease", "repz",	"repe"};
	Text out;
	for (;;) {
		const auto end = std::min(line.find(' '), line.size());
		const auto word = line.substr(0, end);
		line = trim(line.substr(end));
		if (!known.count(word)) {
			out.mnemonic = word;
			break;
		}
		out.prefixes.insert(word);
	}
	int nesting = 0;
	std::size_t begin = 0;
	for (std::size_t i = 0; i <= line.size(); i++) {
		if (i < line.size() && line[i] == '(')
			nesting++;
		if (i < line.size() && line[i] == ')')
			nesting--;
		if (i < line.size() && (line[i] != ',' || nesting > 0))
			continue;
		if (i > begin)
			out.operands.push_back(trim(line.substr(begin, i - begin)));
		begin = i + 1;
	}
	return out;
}

bool starts(std::string_view text, std::string_view with)
{
	return text.substr(0, with.size()) == with;
}

/// Branches name their target as a bare number, which is no memory.
bool is_branch(std::string_view mnemonic)
{
	return mnemonic[0] == 'j' || starts(mnemonic, "call") || starts(mnemonic, "loop") ||
	       starts(mnemonic, "xbegin");
}

bool is_memory(std::string_view operand, bool branch)
{
	if (branch) {
		if (operand[0] != '*')
			return false;
		operand.remove_prefix(1);
	}
	if (operand[0] == '$' || operand == "(%dx)") /* a port */
		return false;
	if (operand[0] == '%')
		return operand.find(':') != operand.npos;
	return true;
}

RegisterNumber number_of(std::string_view name)
{
	static constexpr std::array<std::string_view, 16> names = {
		"%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi",
		"%r8",	"%r9",	"%r10", "%r11", "%r12", "%r13", "%r14", "%r15"};
	const auto at = std::find(names.begin(), names.end(), name);
	return at == names.end() ? kNoRegister : static_cast<RegisterNumber>(at - names.begin());
}

/// "%gs:-0x8(%rax,%rcx,4)"; false when it is of no form that a site can have.
bool parse_operand(std::string_view text, MemoryOperand &out)
{
	if (text[0] == '*')
		text.remove_prefix(1);
	if (text[0] == '%') {
		const auto segment = text.substr(0, 3);
		text.remove_prefix(4);
		if (segment == "%fs")
			return false;
		out.segment = segment == "%gs" ? Segment::Gs : Segment::None;
	}
	const auto open = text.find('(');
	const std::string number(text.substr(0, open));
	if (!number.empty()) {
		const bool negative = number[0] == '-';
		const std::uint64_t size = std::strtoull(number.c_str() + negative, nullptr, 16);
		const auto disp = static_cast<std::int64_t>(negative ? -size : size);
		if (disp < std::numeric_limits<std::int32_t>::min() ||
		    disp > std::numeric_limits<std::int32_t>::max())
			return false;
		out.disp = static_cast<std::int32_t>(disp);
	}
	if (open == text.npos)
		return true;
	auto inside = text.substr(open + 1, text.find(')') - open - 1);
	std::vector<std::string_view> parts;
	while (parts.size() < 3) {
		const auto comma = std::min(inside.find(','), inside.size());
		parts.push_back(inside.substr(0, comma));
		inside.remove_prefix(std::min(comma + 1, inside.size()));
	}
	if (parts[0] == "%rip") {
		out.rip_relative = true;
		return true;
	}
	out.base = number_of(parts[0]);
	if (out.base == kNoRegister && !parts[0].empty())
		return false;
	if (parts[1].empty() || parts[1] == "%riz")
		return true;
	out.index = number_of(parts[1]);
	out.scale = static_cast<std::uint8_t>(std::atoi(std::string(parts[2]).c_str()));
	return out.index != kNoRegister;
}

unsigned int width(char suffix)
{
	switch (suffix) {
	case 'b':
		return 1;
	case 'w':
		return 2;
	case 'l':
		return 4;
	case 'q':
		return 8;
	default:
		return 0;
	}
}

enum class Kind { Unknown, Reads, Writes, Moves, Changes, Nothing, String, System };

struct Meaning {
	Kind kind = Kind::Unknown;
	unsigned int size = 0;
};

Meaning meaning_of(std::string_view name, bool string_operands)
{
	/* Whole mnemonics, with the bytes of their memory operand. */
	static const std::map<std::string_view, Meaning> whole = {
		{"verw", {Kind::System, 0}},	     {"ldmxcsr", {Kind::Reads, 4}},
		{"stmxcsr", {Kind::Writes, 4}},	     {"cmpxchg8b", {Kind::Changes, 8}},
		{"cmpxchg16b", {Kind::Changes, 16}}, {"movups", {Kind::Moves, 16}},
		{"movaps", {Kind::Moves, 16}},	     {"movdqa", {Kind::Moves, 16}},
		{"movdqu", {Kind::Moves, 16}},	     {"movss", {Kind::Moves, 4}},
		{"movsd", {Kind::Moves, 8}},	     {"movd", {Kind::Moves, 4}},
		{"movhps", {Kind::Moves, 8}},	     {"movlps", {Kind::Moves, 8}},
	};
	static const Words strings = {"movs", "stos", "lods", "scas", "cmps", "ins", "outs"};
	static const Words nothing = {"lea",	 "nop",	       "ud1",  "ud0",	  "invlpg",
				      "clflush", "clflushopt", "clwb", "cldemote"};
	static const Words system = {"lgdt",   "sgdt",	   "lidt",    "sidt",	   "lldt",
				     "sldt",   "ltr",	   "str",     "smsw",	   "lmsw",
				     "fxsave", "fxsave64", "fxrstor", "fxrstor64", "invpcid",
				     "vmread", "vmwrite",  "vmptrld", "vmptrst",   "vmclear",
				     "vmxon",  "invept",   "invvpid"};
	static const Words changes = {"add", "sub", "and", "or",   "xor",    "adc",  "sbb",
				      "inc", "dec", "neg", "not",  "shl",    "shr",  "sar",
				      "rol", "ror", "rcl", "rcr",  "shld",   "shrd", "xadd",
				      "bts", "btr", "btc", "xchg", "cmpxchg"};
	static const Words reads = {"cmp",    "test",  "bt",   "push", "imul",	"mul",
				    "div",    "idiv",  "bsf",  "bsr",  "tzcnt", "lzcnt",
				    "popcnt", "crc32", "adcx", "adox", "mulx",	"andn",
				    "rorx",   "shlx",  "shrx", "sarx"};
	if (auto at = whole.find(name); at != whole.end())
		return at->second;
	if (starts(name, "prefetch") || nothing.count(name))
		return {Kind::Nothing, 0};
	if (starts(name, "xsave") || starts(name, "xrstor") || system.count(name))
		return {Kind::System, 0};
	if (starts(name, "set"))
		return {Kind::Writes, 1};
	const auto size = width(name.back());
	const auto stem = size ? name.substr(0, name.size() - 1) : name;
	if (nothing.count(stem))
		return {Kind::Nothing, 0};
	if (system.count(stem))
		return {Kind::System, 0};
	if (string_operands && strings.count(stem))
		return {Kind::String, 0};
	if (!size)
		return {};
	/* movzbl and its like: the memory is as wide as the first letter says. */
	if (stem.size() == 5 && (starts(stem, "movz") || starts(stem, "movs")))
		return {Kind::Reads, width(stem[4])};
	if (starts(stem, "cmov") || reads.count(stem))
		return {Kind::Reads, size};
	if (stem == "pop")
		return {Kind::Writes, size};
	if (stem == "mov" || stem == "movabs" || stem == "movnti" || stem == "movbe")
		return {Kind::Moves, size};
	return {changes.count(stem) ? Kind::Changes : Kind::Unknown, size};
}

Expected unsupported(Unsupported why)
{
	Expected out;
	out.memory = Memory::Unknown;
	out.why = why;
	return out;
}

} // namespace

std::optional<Dump> run_objdump(const std::string &path)
{
	const auto numbers = section_numbers(path);
	Dump out;
	std::map<std::uint64_t, DumpedInstruction> *section = nullptr;
	const bool done =
		each_line_of("objdump -d -w -M suffix '" + path + "'", [&](std::string_view line) {
			static constexpr std::string_view title = "Disassembly of section ";
			if (starts(line, title)) {
				const auto name = line.substr(title.size());
				const auto at =
					numbers.find(std::string(name.substr(0, name.find(':'))));
				section = at == numbers.end() ? nullptr : &out[at->second];
				return;
			}
			/* "   1e:\t65 48 8b \tmovq ..." */
			const auto first = line.find(":\t");
			const auto second = first == line.npos ? first : line.find('\t', first + 2);
			if (!section || second == line.npos)
				return;
			DumpedInstruction instruction;
			const auto bytes = trim(line.substr(first + 2, second - first - 2));
			instruction.length = static_cast<std::uint8_t>((bytes.size() + 1) / 3);
			auto text = line.substr(second + 1);
			text = text.substr(0, text.find('#'));
			instruction.text = trim(text.substr(0, text.find('<')));
			const std::string address(trim(line.substr(0, first)));
			(*section)[std::strtoull(address.c_str(), nullptr, 16)] =
				std::move(instruction);
		});
	return done ? std::optional(std::move(out)) : std::nullopt;
}

Expected expect(const DumpedInstruction &instruction, bool frame_pointer)
{
	const Text text = take_apart(instruction.text);
	Expected out;
	if (text.mnemonic.empty())
		return out;
	const bool branch = is_branch(text.mnemonic);
	const auto memory = std::find_if(text.operands.begin(), text.operands.end(),
					 [&](auto each) { return is_memory(each, branch); });
	if (memory == text.operands.end())
		return out;
	const bool string_operands = memory->find("%es:(%rdi)") != memory->npos ||
				     memory->find("%ds:(%rsi)") != memory->npos;
	const Meaning meaning = meaning_of(text.mnemonic, string_operands);
	switch (meaning.kind) {
	case Kind::Nothing:
		return out;
	case Kind::String:
		return unsupported(Unsupported::String);
	case Kind::System:
		return unsupported(Unsupported::System);
	default:
		break;
	}
	if (branch)
		return unsupported(Unsupported::IndirectBranch);
	if (meaning.kind == Kind::Unknown) {
		out.unknown = text.mnemonic;
		return out;
	}
	MemoryOperand &where = out.site.where;
	if (!parse_operand(*memory, where))
		return unsupported(Unsupported::AddressForm);
	const bool canary = *memory == "%gs:0x28";
	const bool stack =
		canary || (where.segment == Segment::None &&
			   (where.base == kRsp || (frame_pointer && where.base == kRbp)));
	if (!stack && starts(text.mnemonic, "bt") && text.operands[0][0] == '%')
		return unsupported(Unsupported::BitIndex);

	const bool last = memory + 1 == text.operands.end();
	const bool exchange = starts(text.mnemonic, "xchg");
	switch (meaning.kind) {
	case Kind::Reads:
		out.site.op = AccessOp::Read;
		break;
	case Kind::Writes:
		out.site.op = AccessOp::Write;
		break;
	case Kind::Moves:
		out.site.op = last ? AccessOp::Write : AccessOp::Read;
		break;
	default:
		out.site.op = last || exchange ? AccessOp::ReadWrite : AccessOp::Read;
		break;
	}
	out.memory = stack ? Memory::Stack : Memory::Site;
	out.site.length = instruction.length;
	out.site.size = static_cast<std::uint8_t>(meaning.size);
	out.site.atomic = exchange || text.prefixes.count("lock") ||
			  (text.prefixes.count("ds") && out.site.op == AccessOp::ReadWrite);
	return out;
}

} // namespace lockscope::test
