// SPDX-License-Identifier: GPL-2.0
// Memory operands of instructions: the encodings are those of the processor's manual.
#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint32_t kRead = LS_ACC_READ, kWrite = LS_ACC_WRITE, kBoth = kRead | kWrite;

struct Access {
	std::uint32_t op, size;
	bool operator==(const Access &) const = default;
};

Access access(std::uint16_t code, std::uint8_t width, std::uint8_t reg = 0, bool locked = false)
{
	const ls_opcode o{code, reg, width, locked};
	std::uint32_t size = 0;
	const std::uint32_t op = ls_operand_op(&o, &size);
	return {op, op ? size : 0};
}

TEST(Operand, MovesReadOrWriteTheirWidth)
{
	EXPECT_EQ(access(0x88, 4), (Access{kWrite, 1}));
	EXPECT_EQ(access(0x89, 4), (Access{kWrite, 4}));
	EXPECT_EQ(access(0x89, 8), (Access{kWrite, 8}));
	EXPECT_EQ(access(0x89, 2), (Access{kWrite, 2}));
	EXPECT_EQ(access(0x8a, 4), (Access{kRead, 1}));
	EXPECT_EQ(access(0x8b, 8), (Access{kRead, 8}));
	EXPECT_EQ(access(0xc6, 4), (Access{kWrite, 1}));
	EXPECT_EQ(access(0xc7, 8), (Access{kWrite, 8}));
}

TEST(Operand, ExtensionsReadWhatTheyExtend)
{
	EXPECT_EQ(access(0x0fb6, 4), (Access{kRead, 1}));
	EXPECT_EQ(access(0x0fbf, 8), (Access{kRead, 2}));
	EXPECT_EQ(access(0x63, 8), (Access{kRead, 4}));
}

TEST(Operand, ArithmeticReadsAndWritesButForComparisons)
{
	EXPECT_EQ(access(0x01, 8), (Access{kBoth, 8}));
	EXPECT_EQ(access(0x03, 8), (Access{kRead, 8}));
	EXPECT_EQ(access(0x28, 4), (Access{kBoth, 1}));
	EXPECT_EQ(access(0x39, 4), (Access{kRead, 4}));
	EXPECT_EQ(access(0x3a, 4), (Access{kRead, 1}));
	EXPECT_EQ(access(0x83, 4, 0), (Access{kBoth, 4}));
	EXPECT_EQ(access(0x83, 4, 7), (Access{kRead, 4}));
	EXPECT_EQ(access(0xff, 8, 1), (Access{kBoth, 8}));
	EXPECT_EQ(access(0xf6, 4, 0), (Access{kRead, 1}));
	EXPECT_EQ(access(0xf7, 4, 3), (Access{kBoth, 4}));
}

TEST(Operand, ALockPrefixMakesItAtomicAndXchgNeedsNone)
{
	EXPECT_EQ(access(0x01, 8, 0, true), (Access{kBoth | LS_ACC_ATOMIC, 8}));
	EXPECT_EQ(access(0x0fb1, 4, 0, true), (Access{kBoth | LS_ACC_ATOMIC, 4}));
	EXPECT_EQ(access(0x87, 8), (Access{kBoth | LS_ACC_ATOMIC, 8}));
	EXPECT_EQ(access(0x0fba, 8, 5, true), (Access{kBoth | LS_ACC_ATOMIC, 8}));
}

TEST(Operand, OfOthersNothingIsSaid)
{
	/* Calls, jumps and pushes through memory; bits by register lie anywhere. */
	EXPECT_EQ(access(0xff, 8, 2).op, 0u);
	EXPECT_EQ(access(0xff, 8, 4).op, 0u);
	EXPECT_EQ(access(0xff, 8, 6).op, 0u);
	EXPECT_EQ(access(0x0fab, 8).op, 0u);
	EXPECT_EQ(access(0x05, 8).op, 0u);
	EXPECT_EQ(access(0xc7, 8, 7).op, 0u);
	EXPECT_EQ(access(0x8d, 8).op, 0u);
	EXPECT_EQ(access(0xa5, 8).op, 0u);
}

bool repeats(std::vector<std::uint8_t> code)
{
	return ls_operand_repeats(code.data(), static_cast<std::uint32_t>(code.size()));
}

TEST(Operand, AStringInstructionInItsMiddleIsKnown)
{
	EXPECT_TRUE(repeats({0xf3, 0xa4}));
	EXPECT_TRUE(repeats({0xf3, 0x48, 0xa5}));
	EXPECT_TRUE(repeats({0xf3, 0x48, 0xab, 0xc3}));
	EXPECT_FALSE(repeats({0xa4}));
	EXPECT_FALSE(repeats({0xf3, 0x0f, 0xb8}));
	EXPECT_FALSE(repeats({0xf3}));
	EXPECT_FALSE(repeats({}));
}

} // namespace
} // namespace lockscope::test
