// SPDX-License-Identifier: GPL-2.0
// Symbols of one name get numbers, all others do not.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core.h"

namespace {

struct Symbol {
	const char *name;
	bool code = false;
};

/* The numbers of all symbols of a module, in the order of its table. */
std::vector<unsigned> numbers(const std::vector<Symbol> &table)
{
	std::vector<unsigned> out;
	for (std::size_t self = 0; self < table.size(); self++) {
		ls_namesakes n;
		ls_namesakes_of(&n, table[self].name, table[self].code);
		for (std::size_t i = 0; i < table.size(); i++)
			ls_namesakes_see(&n, table[i].name, table[i].code, i < self);
		out.push_back(ls_namesakes_number(&n));
	}
	return out;
}

using Numbers = std::vector<unsigned>;

std::string plain(const char *name)
{
	return std::string(name, ls_plain_length(name));
}

} // namespace

TEST(Namesakes, TheCompilersAdditionIsNoPartOfAName)
{
	EXPECT_EQ(plain("lock.12"), "lock");
	EXPECT_EQ(plain("f.isra.0.cold"), "f");
	EXPECT_EQ(plain("lock"), "lock");
	EXPECT_EQ(plain(".text"), ".text");
	EXPECT_EQ(plain(""), "");
}

TEST(Namesakes, WhatIsAloneHasNoNumber)
{
	EXPECT_EQ(numbers({{"lock"}, {"lock_a"}, {"loc"}, {"mid.3"}}), (Numbers{0, 0, 0, 0}));
}

TEST(Namesakes, LocksOfOneNameAreCountedInOrder)
{
	EXPECT_EQ(numbers({{"lock"}, {"mid"}, {"lock"}, {"lock.4"}}), (Numbers{1, 0, 2, 3}));
	EXPECT_EQ(numbers({{"lock.7"}, {"lock.12"}}), (Numbers{1, 2}));
}

TEST(Namesakes, AFunctionIsNoNamesakeOfALock)
{
	EXPECT_EQ(numbers({{"lock"}, {"lock", true}}), (Numbers{0, 0}));
}

TEST(Namesakes, PartsOfAFunctionShareItsName)
{
	EXPECT_EQ(numbers({{"work", true}, {"work.cold", true}, {"work.part.0", true}}),
		  (Numbers{0, 0, 0}));
	EXPECT_EQ(numbers({{"work.isra.0", true}, {"work.isra.0.cold", true}}), (Numbers{0, 0}));
}

TEST(Namesakes, FunctionsOfOneNameAreCountedInOrder)
{
	EXPECT_EQ(numbers({{"work", true}, {"other", true}, {"work", true}}), (Numbers{1, 0, 2}));
	EXPECT_EQ(numbers({{"work", true}, {"work", true}, {"work.cold", true}}),
		  (Numbers{1, 2, 3}));
	EXPECT_EQ(numbers({{"work.isra.0", true}, {"work.isra.0", true}}), (Numbers{1, 2}));
	EXPECT_EQ(numbers({{"work.llvm.11", true}, {"work.llvm.22", true}}), (Numbers{1, 2}));
}
