// SPDX-License-Identifier: GPL-2.0
#include "decode/access.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace lockscope {

namespace {

/* Where the compiler keeps the stack protector's canary, see the System V ABI
 * for kernels: -mstack-protector-guard-reg=gs at offset 40. */
constexpr std::int32_t kCanary = 0x28;
constexpr std::uint8_t kDsPrefix = 0x3e;

const ZydisDecoder &decoder()
{
	static const ZydisDecoder decoder = [] {
		ZydisDecoder made;
		ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		return made;
	}();
	return decoder;
}

/// Has a memory operand, touches nothing.
bool touches_nothing(const ZydisDecodedInstruction &instruction)
{
	switch (instruction.meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		break;
	}
	switch (instruction.mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
		return true;
	default:
		return false;
	}
}

bool is_system(const ZydisDecodedInstruction &instruction)
{
	switch (instruction.meta.category) {
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return true;
	default:
		break;
	}
	switch (instruction.mnemonic) {
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_INVPCID:
	case ZYDIS_MNEMONIC_ENCLS:
		return true;
	default:
		return false;
	}
}

bool is_bit_test(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_BT || mnemonic == ZYDIS_MNEMONIC_BTS ||
	       mnemonic == ZYDIS_MNEMONIC_BTR || mnemonic == ZYDIS_MNEMONIC_BTC;
}

bool is_memory(const ZydisDecodedOperand &operand)
{
	return operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool is_register(const ZydisDecodedOperand &operand, ZydisRegister which)
{
	return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == which;
}

bool has_prefix(const ZydisDecodedInstruction &instruction, std::uint8_t prefix)
{
	const auto *first = instruction.raw.prefixes;
	const auto *last = first + instruction.raw.prefix_count;
	return std::any_of(first, last, [&](const auto &each) { return each.value == prefix; });
}

bool is_atomic(const ZydisDecodedInstruction &instruction)
{
	/* Kernels on one CPU write a %ds prefix over lock, which means nothing to
	 * the processor and to no compiler. */
	return instruction.mnemonic == ZYDIS_MNEMONIC_XCHG ||
	       (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
	       ((instruction.attributes & ZYDIS_ATTRIB_ACCEPTS_LOCK) &&
		has_prefix(instruction, kDsPrefix));
}

bool general_register(ZydisRegister which, RegisterNumber &number)
{
	if (which == ZYDIS_REGISTER_NONE) {
		number = kNoRegister;
		return true;
	}
	if (ZydisRegisterGetClass(which) != ZYDIS_REGCLASS_GPR64)
		return false;
	number = static_cast<RegisterNumber>(ZydisRegisterGetId(which));
	return true;
}

bool fill_address(const ZydisDecodedInstruction &instruction, const ZydisDecodedOperandMem &from,
		  MemoryOperand &to)
{
	if (from.type != ZYDIS_MEMOP_TYPE_MEM || instruction.address_width != 64)
		return false;
	if (from.segment == ZYDIS_REGISTER_FS)
		return false;
	if (from.segment == ZYDIS_REGISTER_GS)
		to.segment = Segment::Gs;
	const std::int64_t disp = from.disp.has_displacement ? from.disp.value : 0;
	if (disp < std::numeric_limits<std::int32_t>::min() ||
	    disp > std::numeric_limits<std::int32_t>::max())
		return false;
	to.disp = static_cast<std::int32_t>(disp);
	if (from.base == ZYDIS_REGISTER_RIP) {
		to.rip_relative = true;
		return true;
	}
	if (!general_register(from.base, to.base) || !general_register(from.index, to.index))
		return false;
	if (to.index != kNoRegister)
		to.scale = from.scale;
	return true;
}

bool is_stack(const MemoryOperand &where, bool frame_pointer)
{
	if (where.segment == Segment::Gs)
		return where.base == kNoRegister && where.index == kNoRegister &&
		       !where.rip_relative && where.disp == kCanary;
	return where.base == kRsp || (frame_pointer && where.base == kRbp);
}

Instruction unknown(Instruction out, Unsupported why)
{
	out.memory = Instruction::Memory::Unknown;
	out.why = why;
	return out;
}

Instruction::Flow flow_of(const ZydisDecodedInstruction &instruction,
			  const ZydisDecodedOperand *operands)
{
	switch (instruction.mnemonic) {
	case ZYDIS_MNEMONIC_INT3:
		return Instruction::Flow::Breakpoint;
	case ZYDIS_MNEMONIC_CALL:
		return Instruction::Flow::Branches;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_UD2:
		return Instruction::Flow::Leaves;
	case ZYDIS_MNEMONIC_PUSH:
		return is_register(operands[0], ZYDIS_REGISTER_RBP) ? Instruction::Flow::PushRbp
								    : Instruction::Flow::Next;
	case ZYDIS_MNEMONIC_MOV:
		return is_register(operands[0], ZYDIS_REGISTER_RBP) &&
				       is_register(operands[1], ZYDIS_REGISTER_RSP)
			       ? Instruction::Flow::RbpIsRsp
			       : Instruction::Flow::Next;
	default:
		return instruction.meta.category == ZYDIS_CATEGORY_COND_BR
			       ? Instruction::Flow::Branches
			       : Instruction::Flow::Next;
	}
}

/// The number that a mov to memory of @bytes stores.
std::optional<std::uint64_t> constant_of(const ZydisDecodedInstruction &instruction,
					 const ZydisDecodedOperand *operands, unsigned int bytes)
{
	if (instruction.mnemonic != ZYDIS_MNEMONIC_MOV || !is_memory(operands[0]) ||
	    operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || bytes == 0 || bytes > 8)
		return std::nullopt;
	/* Of the operand's size, without its sign above that. */
	return operands[1].imm.value.u & ~std::uint64_t{0} >> (64 - 8 * bytes);
}

/// Memory that the instruction touches without naming it, but for the stack.
bool touches_more(const ZydisDecodedOperand *first, const ZydisDecodedOperand *last)
{
	return std::any_of(first, last, [](const auto &operand) {
		return is_memory(operand) &&
		       operand.visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		       operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		       operand.mem.base != ZYDIS_REGISTER_RSP &&
		       /* leave and enter */
		       operand.mem.base != ZYDIS_REGISTER_RBP;
	});
}

} // namespace

const char *describe(Unsupported reason)
{
	switch (reason) {
	case Unsupported::Undecodable:
		return "no instruction";
	case Unsupported::Breakpoint:
		return "breakpoint";
	case Unsupported::String:
		return "string instruction";
	case Unsupported::BitIndex:
		return "bit number in a register";
	case Unsupported::IndirectBranch:
		return "branch through memory";
	case Unsupported::AddressForm:
		return "form of address";
	case Unsupported::System:
		return "system instruction";
	case Unsupported::Size:
		return "size";
	case Unsupported::Implicit:
		return "memory that is no operand";
	case Unsupported::Refused:
		return "no probe allowed";
	}
	return "";
}

Instruction decode_instruction(std::span<const std::uint8_t> code, bool frame_pointer)
{
	Instruction out;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	if (code.empty() || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(
				    &decoder(), code.data(), code.size(), &instruction, operands)))
		return unknown(out, Unsupported::Undecodable);
	out.length = instruction.length;
	out.flow = flow_of(instruction, operands);
	if (touches_nothing(instruction))
		return out;

	const ZydisDecodedOperand *first = operands, *last = first + instruction.operand_count;
	const auto named = [](const auto &operand) {
		return is_memory(operand) &&
		       operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
	};
	const auto *operand = std::find_if(first, last, named);
	const auto category = instruction.meta.category;
	if (category == ZYDIS_CATEGORY_STRINGOP || category == ZYDIS_CATEGORY_IOSTRINGOP)
		return unknown(out, Unsupported::String);
	const bool more = touches_more(first, last);
	if (operand == last && !more)
		return out;
	if (is_system(instruction))
		return unknown(out, Unsupported::System);
	if (more || std::count_if(first, last, named) != 1)
		return unknown(out, Unsupported::Implicit);
	if (category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_UNCOND_BR)
		return unknown(out, Unsupported::IndirectBranch);
	if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return out;
	if (!fill_address(instruction, operand->mem, out.site.where))
		return unknown(out, Unsupported::AddressForm);
	const bool stack = is_stack(out.site.where, frame_pointer);
	if (!stack && is_bit_test(instruction.mnemonic) &&
	    operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return unknown(out, Unsupported::BitIndex);
	const unsigned int bytes = operand->size / 8;
	if (!stack && (!std::has_single_bit(bytes) || bytes > 64))
		return unknown(out, Unsupported::Size);

	const bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	const bool writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	out.site.op = !writes ? AccessOp::Read : reads ? AccessOp::ReadWrite : AccessOp::Write;
	out.site.length = out.length;
	out.site.size = static_cast<std::uint8_t>(std::min(bytes, 255u));
	out.site.atomic = is_atomic(instruction);
	out.constant = constant_of(instruction, operands, bytes);
	out.memory = stack ? Instruction::Memory::Stack : Instruction::Memory::Site;
	return out;
}

FunctionSites decode_function(std::span<const std::uint8_t> code, std::uint64_t address,
			      std::span<const AddressRange> refused)
{
	FunctionSites out;
	auto count = [&](Unsupported why) { out.unsupported[static_cast<std::size_t>(why)]++; };
	bool frame_pointer = false;
	auto before = Instruction::Flow::Next;
	for (std::size_t at = 0; at < code.size();) {
		Instruction here = decode_instruction(code.subspan(at), frame_pointer);
		if (here.length == 0) {
			count(here.why);
			break;
		}
		if (here.flow == Instruction::Flow::Breakpoint) {
			/* Compilers put them behind what never goes on, and to fill
			 * the end. Elsewhere one hides the bytes of a probed
			 * instruction, and what follows would be read out of step. */
			const bool filler =
				before == Instruction::Flow::Leaves ||
				std::all_of(code.begin() + static_cast<std::ptrdiff_t>(at),
					    code.end(), [](auto b) { return b == 0xcc; });
			if (!filler) {
				count(Unsupported::Breakpoint);
				break;
			}
			here.flow = Instruction::Flow::Leaves;
		}
		if (here.flow == Instruction::Flow::RbpIsRsp &&
		    before == Instruction::Flow::PushRbp)
			frame_pointer = true;
		before = here.flow;
		out.instructions++;
		const std::uint64_t begin = address + at, end = begin + here.length;
		const bool unwanted =
			std::any_of(refused.begin(), refused.end(), [&](const AddressRange &range) {
				return begin < range.end && range.begin < end;
			});
		switch (here.memory) {
		case Instruction::Memory::None:
			break;
		case Instruction::Memory::Stack:
			out.stack++;
			break;
		case Instruction::Memory::Unknown:
			count(unwanted ? Unsupported::Refused : here.why);
			break;
		case Instruction::Memory::Site:
			if (unwanted) {
				count(Unsupported::Refused);
				break;
			}
			here.site.offset = at;
			out.sites.push_back(here.site);
			break;
		}
		at += here.length;
	}
	return out;
}

std::optional<StoredConstant> stored_constant(std::span<const std::uint8_t> code, unsigned int size)
{
	for (std::size_t at = 0; at < code.size();) {
		const Instruction here = decode_instruction(code.subspan(at), false);
		if (here.length == 0 || here.flow != Instruction::Flow::Next ||
		    here.memory == Instruction::Memory::Unknown)
			return std::nullopt;
		if (here.memory == Instruction::Memory::Site && here.site.op != AccessOp::Read)
			return here.site.size == size && here.constant
				       ? std::optional(StoredConstant{*here.constant, at + here.length})
				       : std::nullopt;
		at += here.length;
	}
	return std::nullopt;
}

} // namespace lockscope
