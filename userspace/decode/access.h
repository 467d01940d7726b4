// SPDX-License-Identifier: GPL-2.0
// Instructions of a function that access memory, and the computation of their addresses: what
// a probe needs to report every access of uninstrumented code.
//
// A site has all that the kernel needs at a breakpoint on it:
//
//   address = (Segment::Gs ? this CPU's gs base : 0)
//           + (rip_relative ? function + offset + length : base)
//           + index * scale + disp                            modulo 2^64
//
// with the registers before the instruction. Accesses to the stack are skipped: push, pop,
// call, ret, every operand with %rsp, with %rbp if it is the frame pointer, and the stack
// protector's canary at %gs:0x28. So are instructions with a memory operand and no access:
// lea, nop, prefetches, invlpg, ud1. Other accesses without a site are counted by reason,
// never dropped silently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockscope {

/// A register by its number in machine code: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp,
/// 5 rbp, 6 rsi, 7 rdi, then r8 to r15.
using RegisterNumber = std::uint8_t;
inline constexpr RegisterNumber kRsp = 4, kRbp = 5, kNoRegister = 0xff;

enum class Segment : std::uint8_t { None, Gs };
enum class AccessOp : std::uint8_t { Read, Write, ReadWrite };

/// A memory operand; see the top of this file for its address.
struct MemoryOperand {
	RegisterNumber base = kNoRegister;
	RegisterNumber index = kNoRegister;
	std::uint8_t scale = 1; ///< 1, 2, 4 or 8; 1 without an index
	Segment segment = Segment::None;
	bool rip_relative = false; ///< then there is neither base nor index
	std::int32_t disp = 0;

	bool operator==(const MemoryOperand &) const = default;
};

/// One instruction that accesses memory.
struct AccessSite {
	std::uint64_t offset = 0; ///< of the instruction in its function
	std::uint8_t length = 0;  ///< of the instruction, 1 to 15
	std::uint8_t size = 0;	  ///< bytes accessed: a power of 2 up to 64
	AccessOp op = AccessOp::Read;
	/// Locked, or an exchange with memory. cmpxchg may read only; it counts as
	/// ReadWrite.
	bool atomic = false;
	MemoryOperand where;
};

/// Why an access has no site.
enum class Unsupported : std::uint8_t {
	Undecodable,	///< invalid or truncated: the rest of the function is unknown
	Breakpoint,	///< an int3 of another tool: the rest of the function is unknown
	String,		///< movs, stos and the like, with rep or without
	BitIndex,	///< bt, bts, btr, btc whose address depends on the bit number in a register
	IndirectBranch, ///< call or jmp through memory
	AddressForm,	///< 32-bit addresses, 64-bit displacements, %fs, vectors of addresses
	System,		///< descriptor tables, saved processor state, virtualisation
	Size,		///< not 1, 2, 4, ... 64 bytes
	Implicit,	///< implicit memory operand
	Refused,	///< in a range that the caller excludes
};
inline constexpr std::size_t kUnsupportedReasons = 10;
/// Text, such as "string instruction".
const char *describe(Unsupported reason);

struct AddressRange {
	std::uint64_t begin = 0, end = 0;
};

struct FunctionSites {
	std::vector<AccessSite> sites; ///< by offset
	std::array<std::uint32_t, kUnsupportedReasons> unsupported{};
	std::uint32_t instructions = 0;
	std::uint32_t stack = 0; ///< explicit operands skipped because they are on the stack

	std::uint32_t count(Unsupported reason) const
	{
		return unsupported[static_cast<std::size_t>(reason)];
	}
};

/// The sites of a function whose machine code is @code, at @address. Accesses in @refused,
/// absolute addresses in any order, are counted as Unsupported::Refused: the ranges where
/// probes are not allowed. The five bytes at the beginning that belong to ftrace are a call or
/// a nop and never a site.
///
/// Any bytes are safe. Code of the running kernel should be read before probes are registered,
/// and again after the kernel has patched itself. A lock prefix that a kernel on one CPU
/// replaced (with %ds) is recognised.
FunctionSites decode_function(std::span<const std::uint8_t> code, std::uint64_t address,
			      std::span<const AddressRange> refused = {});

/// Decodes one instruction, for decode_function() and its tests.
struct Instruction {
	enum class Memory : std::uint8_t {
		None,	///< no access, or only an implicit one to the stack
		Site,	///< see site
		Stack,	///< an explicit operand on the stack; site is filled in too
		Unknown ///< see why
	};
	enum class Flow : std::uint8_t { Next, Branches, Leaves, Breakpoint, PushRbp, RbpIsRsp };

	std::uint8_t length = 0; ///< 0: there is none
	Memory memory = Memory::None;
	Flow flow = Flow::Next;
	AccessSite site;
	Unsupported why = Unsupported::Undecodable;
	std::optional<std::uint64_t> constant; ///< stored by a mov at a Site
};
/// Decode the first instruction of @code. @frame_pointer: is %rbp one?
Instruction decode_instruction(std::span<const std::uint8_t> code, bool frame_pointer);

/// A constant that code stores, and its end offset in the code. It has the store's size there,
/// at most four bytes, which a relocation may fill in.
struct StoredConstant {
	std::uint64_t value = 0;
	std::size_t end = 0;
};
/// The first constant of @size bytes (1 to 8) that @code stores, before any call or branch;
/// stores to the stack do not count. nullopt when it stores anything else. After the call-out
/// for a write that store is the write.
std::optional<StoredConstant> stored_constant(std::span<const std::uint8_t> code,
					      unsigned int size);

} // namespace lockscope
