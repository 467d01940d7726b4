// SPDX-License-Identifier: GPL-2.0
// Symbols of kernel and modules.
#include "support.h"

#include "symbolize/data_symbols.h"
#include "symbolize/symbols.h"

using namespace lockscope;
using namespace lockscope::test;

TEST(SymbolTable, FindsTheFunctionOfAReturnAddress)
{
	auto table = SymbolTable::parse("ffffffff81000000 T first\n"
					"ffffffff81000100 t second\n"
					"ffffffff81000100 T alias\n"
					"ffffffff81000200 D data\n"
					"ffffffffc0000000 t in_module\t[mod]\n");
	ASSERT_TRUE(table.ok());
	auto at = table->find(0xffffffff81000010);
	ASSERT_TRUE(at);
	EXPECT_EQ(at->function, "first");
	EXPECT_EQ(at->offset, 0x10u);
	EXPECT_EQ(at->module, "vmlinux");
	/* A call at the very end of a function returns to the next one. */
	EXPECT_EQ(table->find(0xffffffff81000100)->function, "first");
	EXPECT_EQ(table->find(0xffffffff81000101)->function, "second");
	EXPECT_EQ(table->find(0xffffffffc0000004)->module, "mod");
	EXPECT_FALSE(table->find(0));
	EXPECT_FALSE(table->find(0x1000));
	EXPECT_FALSE(table->find(0xffffffffd0000000));
}

/* No call comes before it: a tracer has replaced the caller's address by its start. */
TEST(SymbolTable, ATracerOfReturnsIsEnteredAtItsStart)
{
	auto table = SymbolTable::parse("ffffffff81000000 t before\n"
					"ffffffff81000100 T return_to_handler\n"
					"ffffffff81000200 T arch_rethook_trampoline\n");
	ASSERT_TRUE(table.ok());
	EXPECT_EQ(table->find(0xffffffff81000100)->function, "return_to_handler");
	EXPECT_EQ(table->find(0xffffffff81000200)->function, "arch_rethook_trampoline");
	EXPECT_EQ(table->find(0xffffffff810000ff)->function, "before");
}

/* Compilers split functions and make others of them; those of modules are others'. */
TEST(SymbolTable, RangesOfAFunctionAndItsParts)
{
	auto table = SymbolTable::parse("ffffffff81000000 T freeze\n"
					"ffffffff81000100 t freeze_more\n"
					"ffffffff81000100 T alias\n"
					"ffffffff81000200 t freeze.part.0\n"
					"ffffffff81000280 d freeze.data\n"
					"ffffffff81000300 t thaw\n"
					"ffffffff81900000 t freeze.isra.0.cold\n"
					"ffffffff81900020 t thaw.cold\n"
					"ffffffffc0000000 t freeze\t[mod]\n");
	ASSERT_TRUE(table.ok());
	using Range = SymbolTable::Range;
	EXPECT_EQ(table->ranges("freeze"),
		  (std::vector<Range>{{0xffffffff81000000, 0xffffffff81000100, "vmlinux"},
				      {0xffffffff81000200, 0xffffffff81000300, "vmlinux"},
				      {0xffffffff81900000, 0xffffffff81900020, "vmlinux"}}));
	EXPECT_EQ(table->ranges("freeze_more"),
		  (std::vector<Range>{{0xffffffff81000100, 0xffffffff81000200, "vmlinux"}}));
	/* The length of the last one is not known. */
	EXPECT_EQ(table->ranges("thaw").back().begin, 0xffffffff81900020);
	EXPECT_TRUE(table->ranges("freez").empty());
	EXPECT_TRUE(table->ranges("").empty());
}

TEST(SymbolTable, HiddenAddressesAndNothingAreErrors)
{
	auto hidden = SymbolTable::parse("0000000000000000 T first\n");
	ASSERT_FALSE(hidden.ok());
	EXPECT_NE(hidden.error().what.find("hides"), std::string::npos);
	EXPECT_FALSE(hidden.error().hint.empty());
	EXPECT_FALSE(SymbolTable::parse("").ok());
	EXPECT_FALSE(SymbolTable::parse("junk\n\nx y z\n").ok());
}

/* Sizes in /proc/modules count data, which may lie elsewhere. */
TEST(KernelSymbols, CodeOfModulesSideBySide)
{
	TempDir dir;
	const std::string modules = "a 65536 0 - Live 0xffffffffc0001000 (OE)\n"
				    "b 65536 1 a, Live 0xffffffffc0003000\n";
	const std::string symbols = "ffffffff81000000 T first\n"
				    "ffffffffc0001000 t a_one\t[a]\n"
				    "ffffffffc0003000 t b_one\t[b]\n";
	spill(dir / "modules", modules);
	spill(dir / "kallsyms", symbols);
	KernelSymbols all(dir.path());
	EXPECT_EQ(all.find(0xffffffffc0001010)->function, "a_one");
	EXPECT_EQ(all.find(0xffffffffc0003010)->function, "b_one");
	/* One comes behind the last. */
	spill(dir / "modules", modules + "c 4096 0 - Live 0xffffffffc0005000\n");
	spill(dir / "kallsyms", symbols + "ffffffffc0005000 t c_one\t[c]\n");
	auto at = all.find(0xffffffffc0005010);
	ASSERT_TRUE(at);
	EXPECT_EQ(at->function, "c_one");
	EXPECT_EQ(at->module, "c");
	/* An unloaded module keeps the known name. */
	spill(dir / "modules", modules);
	EXPECT_EQ(all.find(0xffffffffc0005020)->function, "c_one");
}

/* ftrace remembers the functions of modules' starts, and other modules come there. */
TEST(KernelSymbols, CodeInThePlaceOfInitCode)
{
	TempDir dir;
	spill(dir / "modules", "a 4096 0 - Live 0xffffffffc0001000 (OE)\n"
			       "b 4096 0 - Live 0xffffffffc0005000\n");
	spill(dir / "kallsyms", "ffffffff81000000 T first\n"
				"ffffffffc0001000 t a_one\t[a]\n"
				"ffffffffc0001200 t a_two\t[a]\n"
				"ffffffffc0005000 t b_one\t[b]\n"
				"ffffffffc0001080 T b_setup\t[b]\n"
				"ffffffffc0001300 T gone_setup\t[gone]\n"
				"ffffffffc0009000 T b_init\t[b]\n");
	KernelSymbols all(dir.path());
	EXPECT_EQ(all.find(0xffffffffc0001090)->function, "a_one");
	EXPECT_EQ(all.find(0xffffffffc0001310)->function, "a_two");
	EXPECT_EQ(all.find(0xffffffffc0001310)->module, "a");
	/* Nothing else lies there. */
	EXPECT_EQ(all.find(0xffffffffc0009010)->function, "b_init");
}

/* ... or starts of other modules: ftrace lists those that came last first. */
TEST(KernelSymbols, InitCodeInThePlaceOfInitCode)
{
	TempDir dir;
	spill(dir / "modules", "old 4096 0 - Live 0xffffffffc0001000\n"
			       "new 4096 0 - Live 0xffffffffc0005000\n");
	const std::string of_new = "ffffffffc0009000 T new_init\t[new]\n",
			  of_old = "ffffffffc0009080 T old_init\t[old]\n"
				   "ffffffffc000a040 T old_more\t[old]\n",
			  rest = "ffffffff81000000 T first\n"
				 "ffffffffc0001000 t old_one\t[old]\n"
				 "ffffffffc0005000 t new_one\t[new]\n";
	spill(dir / "kallsyms", rest + of_new + of_old);
	KernelSymbols all(dir.path());
	EXPECT_EQ(all.find(0xffffffffc0009100)->function, "new_init");
	EXPECT_EQ(all.find(0xffffffffc000a050)->function, "old_more");
	/* The other way round the longer one came last and covers all of the other. */
	spill(dir / "kallsyms", rest + of_old + of_new);
	KernelSymbols again(dir.path());
	EXPECT_EQ(again.find(0xffffffffc0009100)->function, "old_init");
}

/* A table from when one module started knows nothing of what came behind its start's code. */
TEST(KernelSymbols, StartCodeDoesNotReachIntoWhatComesLater)
{
	TempDir dir;
	const std::string modules = "ext 4096 0 - Live 0xffffffffc0001000\n"
				    "other 4096 0 - Live 0xffffffffc0003000\n";
	const std::string symbols = "ffffffff81000000 T first\n"
				    "ffffffffc0001000 t ext_one\t[ext]\n"
				    "ffffffffc0003000 t other_one\t[other]\n"
				    "ffffffffc0009000 t ext_setup\t[ext]\n";
	spill(dir / "modules", modules);
	spill(dir / "kallsyms", symbols);
	KernelSymbols all(dir.path());
	EXPECT_EQ(all.find(0xffffffffc0009010)->function, "ext_setup");
	/* A page has what that start may have, 90 KB further on nothing of it is. */
	EXPECT_EQ(all.find(0xffffffffc0009f00)->function, "ext_setup");
	EXPECT_FALSE(all.find(0xffffffffc001f000));
	/* In that very place another one comes. */
	spill(dir / "modules", modules + "late 4096 0 - Live 0xffffffffc0009000\n");
	spill(dir / "kallsyms", symbols + "ffffffffc0009000 t late_one\t[late]\n"
					  "ffffffffc0009100 t late_two\t[late]\n");
	auto at = all.find(0xffffffffc0009120);
	ASSERT_TRUE(at);
	EXPECT_EQ(at->function, "late_two");
	EXPECT_EQ(at->module, "late");
}

/* The log says where code lay at that time, whatever the tables have by now. */
TEST(KernelSymbols, CodeOfModulesThatTheLogHas)
{
	TempDir dir;
	const std::string modules = "ext 65536 0 - Live 0xffffffffc0001000\n";
	const std::string symbols = "ffffffff81000000 T first\n"
				    "ffffffffc0001000 t ext_one\t[ext]\n"
				    "ffffffffc0009000 t ext_setup\t[ext]\n";
	spill(dir / "modules", modules);
	spill(dir / "kallsyms", symbols);
	KernelSymbols all(dir.path());
	all.module_changed({LS_MODULE_COMES, 0xffffffffc0001000, 0xffffffffc0002000,
			    0xffffffffc0009000, 0xffffffffc000a000, "ext"});
	EXPECT_EQ(all.find(0xffffffffc0001010)->function, "ext_one");
	EXPECT_EQ(all.find(0xffffffffc0009010)->function, "ext_setup");
	/* Data is no code, and what lies between is neither's. */
	EXPECT_FALSE(all.find(0xffffffffc0002010));
	EXPECT_FALSE(all.find(0xffffffffc000a010));
	all.module_changed({LS_MODULE_STARTED, 0xffffffffc0001000, 0xffffffffc0002000,
			    0xffffffffc0009000, 0xffffffffc000a000, "ext"});
	EXPECT_EQ(all.find(0xffffffffc0009020)->function, "ext_setup")
		<< "seen before it was freed";
	/* Others come there. The names of that start are remembered by ftrace. */
	all.module_changed({LS_MODULE_COMES, 0xffffffffc0009000, 0xffffffffc000b000, 0, 0, "late"});
	EXPECT_FALSE(all.find(0xffffffffc0009010)) << "not in the table yet";
	spill(dir / "modules", modules + "late 8192 0 - Loading 0xffffffffc0009000\n");
	spill(dir / "kallsyms", symbols + "ffffffffc0008ff0 t ext_more\t[ext]\n"
					  "ffffffffc0009000 t late_one\t[late]\n"
					  "ffffffffc0009008 T ext_setup\t[ext]\n");
	auto at = all.find(0xffffffffc0009010);
	ASSERT_TRUE(at);
	EXPECT_EQ(at->function, "late_one");
	EXPECT_EQ(at->offset, 0x10u);
	EXPECT_EQ(at->module, "late");
	/* An unloaded module keeps its range until another one uses it. */
	all.module_changed({LS_MODULE_GOES, 0xffffffffc0009000, 0xffffffffc000b000, 0, 0, "late"});
	EXPECT_EQ(all.find(0xffffffffc0009030)->function, "late_one");
	EXPECT_EQ(all.find(0xffffffff81000010)->function, "first");
}

/* As the module has them; what is alone keeps all of its name. */
TEST(DataSymbols, OfOneNameHaveNumbers)
{
	EXPECT_EQ(data_lines("ffffffff81000000 T lock\n"
			     "ffffffff82000000 d lock\n"
			     "ffffffff82000010 b alone.3\n"
			     "ffffffff82000020 B lock.12\n"
			     "ffffffffc0000000 d lock\t[foo]\n"),
		  "ffffffff82000000 T lock#1\n"
		  "ffffffff82000010 T alone.3\n"
		  "ffffffff82000020 T lock#2\n"
		  "ffffffffc0000000 T lock\t[foo]\n");
}

TEST(DataSymbols, FunctionsOfOneNameHaveNumbers)
{
	using Numbers = std::unordered_map<std::uint64_t, std::uint32_t>;
	EXPECT_EQ(code_numbers("ffffffff81000000 T run\n"
			       "ffffffff81000010 t alone\n"
			       "ffffffff81000020 t alone.cold\n"
			       "ffffffff81000030 t run\n"
			       "ffffffff82000000 d run\n"
			       "ffffffffc0000000 t run\t[foo]\n"),
		  (Numbers{{0xffffffff81000000, 1}, {0xffffffff81000030, 2}}));
	EXPECT_EQ(numbered_name("run.cold", 2), "run#2");
	EXPECT_EQ(numbered_name("run.cold", 0), "run.cold");
}
