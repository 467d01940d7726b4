// SPDX-License-Identifier: GPL-2.0
// Memory accesses in machine code, assembled by hand. That the decoder reads whole
// modules as objdump does is selftests/cli/decoder.
#include "decode/access.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <vector>

using namespace lockscope;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Memory = Instruction::Memory;

constexpr RegisterNumber kRax = 0, kRdi = 7;

/// The operand disp(%base).
MemoryOperand over(RegisterNumber base, std::int32_t disp = 0)
{
	MemoryOperand out;
	out.base = base;
	out.disp = disp;
	return out;
}

Instruction decode(const Bytes &bytes)
{
	return decode_instruction(bytes, false);
}

void expect_site(const Bytes &bytes, AccessOp op, unsigned int size, const MemoryOperand &where,
		 bool atomic = false)
{
	const Instruction out = decode(bytes);
	ASSERT_EQ(out.memory, Memory::Site) << describe(out.why);
	EXPECT_EQ(out.length, bytes.size());
	EXPECT_EQ(out.site.length, bytes.size());
	EXPECT_EQ(out.site.op, op);
	EXPECT_EQ(out.site.size, size);
	EXPECT_EQ(out.site.atomic, atomic);
	EXPECT_TRUE(out.site.where == where);
}

void expect_unsupported(const Bytes &bytes, Unsupported why)
{
	const Instruction out = decode(bytes);
	ASSERT_EQ(out.memory, Memory::Unknown);
	EXPECT_EQ(out.why, why) << describe(out.why);
	EXPECT_EQ(out.length, bytes.size());
}

Bytes joined(std::initializer_list<Bytes> parts)
{
	Bytes out;
	for (const auto &part : parts)
		out.insert(out.end(), part.begin(), part.end());
	return out;
}

const Bytes kLoad = {0x8b, 0x47, 0x04};	      /* mov 0x4(%rdi),%eax */
const Bytes kOverRbp = {0x8b, 0x45, 0xfc};    /* mov -0x4(%rbp),%eax */
const Bytes kPushRbp = {0x55}, kRet = {0xc3}; /* push %rbp; ret */
const Bytes kMovRspRbp = {0x48, 0x89, 0xe5};  /* mov %rsp,%rbp */
const Bytes kFtraceNop = {0x0f, 0x1f, 0x44, 0x00, 0x00};

} // namespace

TEST(Decode, OperationsAndSizes)
{
	expect_site({0x48, 0x8b, 0x47, 0x10}, AccessOp::Read, 8, over(kRdi, 16));
	expect_site({0x89, 0x07}, AccessOp::Write, 4, over(kRdi));
	expect_site({0x66, 0xc7, 0x07, 0x01, 0x00}, AccessOp::Write, 2, over(kRdi));
	expect_site({0xff, 0x07}, AccessOp::ReadWrite, 4, over(kRdi)); /* incl */
	expect_site({0x48, 0x01, 0x07}, AccessOp::ReadWrite, 8, over(kRdi));
	expect_site({0x48, 0x03, 0x07}, AccessOp::Read, 8, over(kRdi));
	expect_site({0x80, 0x3f, 0x00}, AccessOp::Read, 1, over(kRdi)); /* cmpb */
	expect_site({0xf6, 0x47, 0x04, 0x08}, AccessOp::Read, 1, over(kRdi, 4));
	expect_site({0x0f, 0xb6, 0x07}, AccessOp::Read, 1, over(kRdi));	      /* movzbl */
	expect_site({0x48, 0x63, 0x07}, AccessOp::Read, 4, over(kRdi));	      /* movslq */
	expect_site({0x0f, 0x94, 0x07}, AccessOp::Write, 1, over(kRdi));      /* sete */
	expect_site({0x48, 0x0f, 0x44, 0x07}, AccessOp::Read, 8, over(kRdi)); /* cmove */
	expect_site({0x48, 0x0f, 0xba, 0x2f, 0x05}, AccessOp::ReadWrite, 8, over(kRdi));
	expect_site({0x48, 0x0f, 0xba, 0x27, 0x05}, AccessOp::Read, 8, over(kRdi));
	expect_site({0x0f, 0x11, 0x07}, AccessOp::Write, 16, over(kRdi)); /* movups */
}

TEST(Decode, TheConstantThatIsStoredFirst)
{
	const Bytes byte = {0xc6, 0x47, 0x08, 0xff},			  /* movb $-1,8(%rdi) */
		word = {0xc7, 0x07, 0x01, 0x00, 0x00, 0x00},		  /* movl $1,(%rdi) */
		quad = {0x48, 0xc7, 0x07, 0xff, 0xff, 0xff, 0xff},	  /* movq $-1,(%rdi) */
		value = {0x89, 0x07},					  /* mov %eax,(%rdi) */
		spill = {0xc7, 0x44, 0x24, 0x08, 0x05, 0x00, 0x00, 0x00}, /* movl $5,8(%rsp) */
		call = {0xe8, 0x00, 0x00, 0x00, 0x00}, branch = {0x74, 0x02},
		    count = {0x83, 0x07, 0x01}; /* addl $1,(%rdi) */

	const auto stored = [](const Bytes &code, unsigned int size) {
		const auto found = stored_constant(code, size);
		return found ? std::optional(found->value) : std::nullopt;
	};

	EXPECT_EQ(stored(byte, 1), 0xffu);
	EXPECT_EQ(stored(word, 4), 1u);
	EXPECT_EQ(stored(quad, 8), ~0ull);
	EXPECT_EQ(stored(joined({spill, kLoad, word, kRet}), 4), 1u);
	EXPECT_EQ(stored_constant(joined({spill, kLoad, word, kRet}), 4)->end, 17u);
	EXPECT_EQ(stored(word, 2), std::nullopt);
	EXPECT_EQ(stored(joined({value, word}), 4), std::nullopt);
	EXPECT_EQ(stored(joined({call, word}), 4), std::nullopt);
	EXPECT_EQ(stored(joined({branch, word}), 4), std::nullopt);
	EXPECT_EQ(stored(count, 4), std::nullopt);
	EXPECT_EQ(stored(kRet, 4), std::nullopt);
	EXPECT_EQ(stored({}, 4), std::nullopt);
}

TEST(Decode, PushAndPopOfMemoryTouchItBesidesTheStack)
{
	expect_site({0xff, 0x77, 0x08}, AccessOp::Read, 8, over(kRdi, 8));
	expect_site({0x8f, 0x07}, AccessOp::Write, 8, over(kRdi));
}

TEST(Decode, AtomicOperations)
{
	expect_site({0xf0, 0x48, 0x0f, 0xb1, 0x17}, AccessOp::ReadWrite, 8, over(kRdi), true);
	expect_site({0xf0, 0x0f, 0xc1, 0x07}, AccessOp::ReadWrite, 4, over(kRdi), true);
	expect_site({0xf0, 0x80, 0x0f, 0x04}, AccessOp::ReadWrite, 1, over(kRdi), true);
	/* An exchange is locked by itself. */
	expect_site({0x48, 0x87, 0x07}, AccessOp::ReadWrite, 8, over(kRdi), true);
	expect_site({0xf0, 0x48, 0x0f, 0xc7, 0x4f, 0x10}, AccessOp::ReadWrite, 16, over(kRdi, 16),
		    true);
	/* On one CPU the kernel writes %ds over lock; a load may have one as well. */
	expect_site({0x3e, 0xff, 0x07}, AccessOp::ReadWrite, 4, over(kRdi), true);
	expect_site({0x3e, 0x8b, 0x07}, AccessOp::Read, 4, over(kRdi), false);
	expect_site({0x48, 0x0f, 0xb1, 0x17}, AccessOp::ReadWrite, 8, over(kRdi), false);
}

TEST(Decode, PerCpuAndRipRelative)
{
	MemoryOperand where;
	where.segment = Segment::Gs;
	expect_site({0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, AccessOp::Read, 8, where);
	where.rip_relative = true;
	where.disp = 0x12345678;
	expect_site({0x65, 0x48, 0x8b, 0x05, 0x78, 0x56, 0x34, 0x12}, AccessOp::Read, 8, where);
	where.segment = Segment::None;
	where.disp = -2;
	expect_site({0x89, 0x05, 0xfe, 0xff, 0xff, 0xff}, AccessOp::Write, 4, where);
	/* At offset 0x28 lies the stack protector's canary, but only through %gs. */
	EXPECT_EQ(decode({0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}).memory, Memory::Stack);
	EXPECT_EQ(decode({0x65, 0x48, 0x8b, 0x04, 0x25, 0x30, 0, 0, 0}).memory, Memory::Site);
	EXPECT_EQ(decode({0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}).memory, Memory::Site);
	EXPECT_EQ(decode({0x65, 0x48, 0x8b, 0x40, 0x28}).memory, Memory::Site);
}

TEST(Decode, TheStackIsLeftOut)
{
	EXPECT_EQ(decode({0x48, 0x89, 0x44, 0x24, 0x08}).memory, Memory::Stack);
	EXPECT_EQ(decode({0x48, 0x89, 0x04, 0xc4}).memory, Memory::Stack); /* (%rsp,%rax,8) */
	for (const Bytes &bytes : {Bytes{0x55}, Bytes{0x5d}, Bytes{0xe8, 0, 0, 0, 0}, Bytes{0xc3},
				   Bytes{0xc9}, Bytes{0x9c}, Bytes{0x6a, 0x00}})
		EXPECT_EQ(decode(bytes).memory, Memory::None);
	EXPECT_EQ(decode_instruction(kOverRbp, false).memory, Memory::Site);
	EXPECT_EQ(decode_instruction(kOverRbp, true).memory, Memory::Stack);
}

TEST(Decode, OperandsThatAreNoAccess)
{
	for (const Bytes &bytes :
	     {Bytes{0x48, 0x8d, 0x47, 0x08}, kFtraceNop, Bytes{0x2e, 0x0f, 0x1f, 0x04, 0x00},
	      Bytes{0x0f, 0x18, 0x0f}, Bytes{0x0f, 0x0d, 0x0f}, Bytes{0x0f, 0x01, 0x3f},
	      Bytes{0x0f, 0xae, 0x3f}, Bytes{0x67, 0x0f, 0xb9, 0x40, 0x01}}) {
		const Instruction out = decode(bytes);
		EXPECT_EQ(out.memory, Memory::None) << int{bytes[1]};
		EXPECT_EQ(out.length, bytes.size());
	}
}

TEST(Decode, UnsupportedIsCountedByReason)
{
	expect_unsupported({0xf3, 0x48, 0xab}, Unsupported::String);
	expect_unsupported({0x48, 0xa5}, Unsupported::String);
	expect_unsupported({0x48, 0x0f, 0xab, 0x37}, Unsupported::BitIndex);
	expect_unsupported({0xf0, 0x48, 0x0f, 0xb3, 0x37}, Unsupported::BitIndex);
	expect_unsupported({0xff, 0x67, 0x08}, Unsupported::IndirectBranch);
	expect_unsupported({0xff, 0x15, 0, 0, 0, 0}, Unsupported::IndirectBranch);
	expect_unsupported({0x67, 0x8b, 0x07}, Unsupported::AddressForm);
	expect_unsupported({0x64, 0x8b, 0x07}, Unsupported::AddressForm);
	expect_unsupported({0x48, 0xa1, 0, 0, 0, 0, 1, 0, 0, 0}, Unsupported::AddressForm);
	expect_unsupported({0x0f, 0xae, 0x07}, Unsupported::System); /* fxsave */
	expect_unsupported({0x0f, 0x01, 0x17}, Unsupported::System); /* lgdt */
	expect_unsupported({0xdb, 0x2f}, Unsupported::Size);	     /* fldt */
	expect_unsupported({0xd7}, Unsupported::Implicit);	     /* xlat */
	EXPECT_EQ(decode({0x06}).length, 0);
	EXPECT_EQ(decode({}).length, 0);
	EXPECT_EQ(decode({0x48, 0x8b}).length, 0);
}

/* mov disp(%base,%index,scale),%rax, in every way it can be written. */
TEST(Decode, EveryFormOfAddress)
{
	std::mt19937 random(1);
	for (unsigned int base = 0; base < 17; base++) {
		for (unsigned int index = 0; index < 16; index++) {
			for (unsigned int shift = 0; shift < 4; shift++) {
				for (unsigned int mode = 0; mode < 3; mode++) {
					/* Base 16 is none, which has a 32-bit displacement only;
					 * rbp and r13 need one; rsp cannot be an index. */
					const bool none = base == 16;
					const unsigned int bytes = none	       ? 4
								   : mode == 0 ? 0
								   : mode == 1 ? 1
									       : 4;
					if (bytes == 0 && (base & 7) == kRbp)
						continue;
					const auto disp =
						bytes == 0   ? 0
						: bytes == 1 ? static_cast<std::int8_t>(random())
							     : static_cast<std::int32_t>(random());
					const unsigned int b = none ? 5 : base;
					Bytes code = {static_cast<std::uint8_t>(0x48 | (b >> 3) |
										(index >> 3) << 1),
						      0x8b,
						      static_cast<std::uint8_t>(
							      (none ? 0 : mode) << 6 | 4),
						      static_cast<std::uint8_t>(shift << 6 |
										(index & 7) << 3 |
										(b & 7))};
					for (unsigned int i = 0; i < bytes; i++)
						code.push_back(static_cast<std::uint8_t>(
							static_cast<std::uint32_t>(disp) >> 8 * i));
					MemoryOperand where;
					where.base = none ? kNoRegister
							  : static_cast<RegisterNumber>(base);
					where.disp = disp;
					if (index != kRsp) {
						where.index = static_cast<RegisterNumber>(index);
						where.scale = static_cast<std::uint8_t>(1 << shift);
					}
					const Instruction out = decode(code);
					ASSERT_EQ(out.memory,
						  base == kRsp ? Memory::Stack : Memory::Site);
					ASSERT_EQ(out.length, code.size());
					ASSERT_TRUE(out.site.where == where)
						<< base << " " << index << " " << disp;
				}
			}
		}
	}
}

TEST(DecodeFunction, SitesWithTheirOffsets)
{
	const auto out =
		decode_function(joined({kFtraceNop, kPushRbp, kLoad, kOverRbp, kRet}), 0x1000);
	ASSERT_EQ(out.sites.size(), 2u);
	EXPECT_EQ(out.sites[0].offset, 6u);
	EXPECT_EQ(out.sites[1].offset, 9u);
	EXPECT_TRUE(out.sites[1].where == over(kRbp, -4));
	EXPECT_EQ(out.instructions, 5u);
	EXPECT_EQ(out.stack, 0u);
}

TEST(DecodeFunction, RbpIsTheStackWhereThePrologueSaysSo)
{
	auto out = decode_function(
		joined({kFtraceNop, kPushRbp, kMovRspRbp, kLoad, kOverRbp, kRet}), 0x1000);
	EXPECT_EQ(out.sites.size(), 1u);
	EXPECT_EQ(out.stack, 1u);
	/* A copy of %rsp alone is none. */
	out = decode_function(joined({kMovRspRbp, kOverRbp, kRet}), 0x1000);
	EXPECT_EQ(out.sites.size(), 1u);
}

TEST(DecodeFunction, WhatTheCallerRefuses)
{
	const Bytes code = joined({kLoad, kLoad, kLoad, kRet});
	const std::vector<AddressRange> middle = {{0x1005, 0x1006}}, none = {{0x1009, 0x2000}};
	auto out = decode_function(code, 0x1000, middle);
	ASSERT_EQ(out.sites.size(), 2u);
	EXPECT_EQ(out.sites[1].offset, 6u);
	EXPECT_EQ(out.count(Unsupported::Refused), 1u);
	out = decode_function(code, 0x1000, none);
	EXPECT_EQ(out.sites.size(), 3u);
	EXPECT_EQ(out.count(Unsupported::Refused), 0u);
}

TEST(DecodeFunction, FillersAreNoBreakpoints)
{
	const Bytes filler = {0xcc, 0xcc, 0xcc};
	auto out = decode_function(joined({kLoad, kRet, filler, kLoad, kRet, filler}), 0);
	EXPECT_EQ(out.sites.size(), 2u);
	EXPECT_EQ(out.count(Unsupported::Breakpoint), 0u);
	/* Behind a call that does not return, to the end. */
	out = decode_function(joined({kLoad, {0xe8, 0, 0, 0, 0}, filler}), 0);
	EXPECT_EQ(out.count(Unsupported::Breakpoint), 0u);
	/* A probe on the second load hides what it is, and all that follows. */
	out = decode_function(joined({kLoad, {0xcc, 0x47, 0x04}, kLoad, kRet}), 0);
	EXPECT_EQ(out.sites.size(), 1u);
	EXPECT_EQ(out.count(Unsupported::Breakpoint), 1u);
}

TEST(DecodeFunction, CutOffAnywhereItKeepsWhatCameBefore)
{
	const Bytes code = joined({kFtraceNop, kLoad, kOverRbp, {0xf0, 0xff, 0x07}, kLoad, kRet});
	const auto whole = decode_function(code, 0);
	ASSERT_EQ(whole.sites.size(), 4u);
	for (std::size_t n = 0; n <= code.size(); n++) {
		const auto part = decode_function(std::span(code).first(n), 0);
		ASSERT_LE(part.sites.size(), whole.sites.size());
		for (std::size_t i = 0; i < part.sites.size(); i++)
			EXPECT_EQ(part.sites[i].offset, whole.sites[i].offset);
		std::size_t ends = 0;
		for (const auto &site : whole.sites)
			ends += site.offset + site.length <= n;
		EXPECT_EQ(part.sites.size(), ends);
	}
	EXPECT_TRUE(decode_function({}, 0).sites.empty());
}

TEST(DecodeFunction, BytesThatAreNoInstructionEndIt)
{
	const auto out = decode_function(joined({kLoad, {0x06}, kLoad}), 0);
	EXPECT_EQ(out.sites.size(), 1u);
	EXPECT_EQ(out.count(Unsupported::Undecodable), 1u);
}
