// SPDX-License-Identifier: GPL-2.0
// What authors said of locks: read from source and from a table.
#include "support.h"

#include "annotations/evaluate.h"
#include "annotations/source.h"
#include "model/annotations.h"

#include <algorithm>
#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;
using namespace lockscope::annotations;

namespace {

FileContent scan_all(const std::string &text)
{
	return scan(text, [](std::string_view name) { return name.starts_with("nest"); });
}

TEST(AnnotationScan, CallsHaveTheirPlaceAndArguments)
{
	const auto found =
		scan_all("static int f(struct a *x)\n{\n\tnest(&x->lock, A | 1);\n"
			 "\tother(x);\n\tif (nest(y[g(1, 2)],\n\t\t 2))\n\t\treturn 1;\n}\n");
	ASSERT_EQ(found.definitions.size(), 1u);
	const auto &f = found.definitions[0];
	EXPECT_EQ(f.name, "f");
	EXPECT_TRUE(f.is_static);
	EXPECT_EQ(f.line, 1u);
	EXPECT_EQ(f.last_line, 8u);
	EXPECT_EQ(f.parameters, std::vector<std::string>{"x"});
	ASSERT_EQ(f.calls.size(), 2u);
	EXPECT_EQ(f.calls[0].line, 3u);
	EXPECT_EQ(f.calls[0].column, 2u);
	EXPECT_EQ(f.calls[0].arguments, (std::vector<std::string>{"&x->lock", "A|1"}));
	EXPECT_EQ(f.calls[1].last_line, 6u);
	EXPECT_EQ(f.calls[1].arguments, (std::vector<std::string>{"y[g(1,2)]", "2"}));
}

TEST(AnnotationScan, CommentsStringsAndMembersAreNoCalls)
{
	const auto found = scan_all("int f(void)\n{\n\t/* nest(a, 1) */ // nest(b, 1)\n"
				    "\tprintk(\"nest(c, 1) \\\" {\");\n\tops->nest(d, 1);\n"
				    "\tif (c == '{' || c == '\"')\n\t\treturn 0;\n}\n"
				    "int nest_g(int subclass)\n{\n}\n");
	ASSERT_EQ(found.definitions.size(), 1u);
	EXPECT_EQ(found.definitions[0].name, "nest_g");
}

TEST(AnnotationScan, MacrosOfManyLinesAndAttributes)
{
	const auto found =
		scan_all("#define nest_all(l, \\\n\t\t s) do { \\\n\tnest(l, s); \\\n"
			 "} while (0)\n"
			 "__printf(1, 2) int f(char *a, ...) __acquires(x)\n{\n\tnest(a, 1);\n}\n");
	ASSERT_EQ(found.definitions.size(), 2u);
	EXPECT_TRUE(found.definitions[0].macro);
	EXPECT_EQ(found.definitions[0].parameters, (std::vector<std::string>{"l", "s"}));
	ASSERT_EQ(found.definitions[0].calls.size(), 1u);
	EXPECT_EQ(found.definitions[0].calls[0].line, 3u);
	EXPECT_EQ(found.definitions[1].name, "f");
}

TEST(AnnotationScan, BranchesThatBothOpenABrace)
{
	const auto found = scan_all("#ifdef A\nint f(int a)\n{\n\tif (a) {\n#else\n\t{\n#endif\n"
				    "\t\tnest(a, 1);\n\t}\n}\nint g(void)\n{\n\tnest(b, 2);\n}\n");
	ASSERT_EQ(found.definitions.size(), 2u);
	EXPECT_EQ(found.definitions[1].name, "g");
	EXPECT_EQ(found.definitions[1].calls[0].arguments[1], "2");
}

TEST(AnnotationScan, AnyTextEnds)
{
	for (const char *text :
	     {"", "{", "}", "(", "\"", "'", "/*", "#define", "#define f(", "f(", "enum {",
	      "enum { A = (", "\\\n", "int f(int", "#", "}}}}", "nest("})
		scan_all(text);
}

TEST(AnnotationEvaluate, ConstantExpressions)
{
	const auto value = [](const std::string &name, const std::vector<std::string> &arguments) {
		return name == "A"				? std::optional<long>(4)
		       : name == "DEP" && arguments.size() == 1 ? std::optional<long>(7)
								: std::nullopt;
	};
	EXPECT_EQ(evaluate("A", value), 4);
	EXPECT_EQ(evaluate("1 + 2*A - (A>>1)", value), 7);
	EXPECT_EQ(evaluate("0x10u|1", value), 17);
	EXPECT_EQ(evaluate("DEP(A|1)", value), 7);
	for (const char *text : {"", "B", "A+", "(A", "a->b", "1<<64", "A ? 1 : 2", "f(1"})
		EXPECT_FALSE(evaluate(text, value)) << text;
	EXPECT_FALSE(evaluate(std::string(100000, '('), value));
}

/* A tree of source files. */
class AnnotationSource : public testing::Test {
protected:
	const SourceTree &tree(const std::vector<std::pair<std::string, std::string>> &files)
	{
		std::vector<std::string> names;
		for (const auto &[name, text] : files) {
			std::filesystem::create_directories(
				std::filesystem::path(dir / name).parent_path());
			spill(dir / name, text);
			names.push_back(name);
		}
		source = std::make_unique<SourceTree>(dir.path(), names);
		return *source;
	}

	const Site &site(const std::string &callee)
	{
		for (const auto &site : source->sites())
			if (site.call.callee == callee)
				return site;
		ADD_FAILURE() << "no " << callee;
		static const Site none{};
		return none;
	}

	TempDir dir;
	std::unique_ptr<SourceTree> source;
	const std::string mutex_h =
		"extern void mutex_lock_nested(struct mutex *l, int subclass);\n"
		"#define mutex_lock(l) mutex_lock_nested(l, 0)\n";
};

TEST_F(AnnotationSource, WrappersAreFoundOverSeveralSteps)
{
	tree({{"include/linux/mutex.h", mutex_h},
	      {"fs/foo.h", "static inline void foo_lock(struct foo *f, int level)\n{\n"
			   "\tmutex_lock_nested(&f->lock, level);\n}\n"
			   "#define foo_lock_child(f) foo_lock(f, FOO_CHILD)\n"
			   "enum { FOO_PARENT, FOO_CHILD };\n"},
	      {"fs/foo.c", "void outer(struct foo *f, int depth)\n{\n\tfoo_lock(f, depth + 1);\n}\n"
			   "void one(struct foo *f)\n{\n\tfoo_lock_child(f);\n\touter(f, 2);\n"
			   "\tmutex_lock(&f->lock);\n}\n"}});
	const auto file = *source->file("fs/foo.c");
	EXPECT_TRUE(source->carries(file, "foo_lock"));
	EXPECT_TRUE(source->carries(file, "outer"));
	EXPECT_FALSE(source->carries(file, "one"));
	EXPECT_FALSE(source->carries(file, "mutex_lock"));
	const auto text = source->meaning(site("foo_lock_child"));
	ASSERT_TRUE(text);
	EXPECT_EQ(*text, "FOO_CHILD");
	EXPECT_EQ(source->evaluate(file, *text), 1);
	const auto outer = source->meaning(site("outer"));
	ASSERT_TRUE(outer);
	EXPECT_EQ(source->evaluate(file, *outer), 3);
}

TEST_F(AnnotationSource, ALineThatIsDisabledForLockdep)
{
	tree({{"include/linux/interrupt.h",
	       "static inline void disable_irq_nosync_lockdep(unsigned int irq)\n{\n"
	       "\tdisable_irq_nosync(irq);\n}\n"},
	      {"drivers/x.c", "void x(struct x *x)\n{\n\tdisable_irq_nosync_lockdep(x->irq);\n}\n"
			      "void y(struct x *x)\n{\n\tdisable_irq_nosync(x->irq);\n}\n"}});
	ASSERT_EQ(source->sites().size(), 1u);
	EXPECT_EQ(source->sites()[0].says, Says::IrqLine);
	EXPECT_EQ(source->meaning(source->sites()[0]), "x->irq");
	EXPECT_FALSE(source->carries(*source->file("drivers/x.c"), "x"));
}

TEST_F(AnnotationSource, WhatAnObjectHasIsNoWrapper)
{
	tree({{"include/linux/mutex.h", mutex_h},
	      {"fs/foo.c",
	       "void f(struct foo *f)\n{\n\tmutex_lock_nested(&f->lock, f->level);\n}\n"}});
	EXPECT_FALSE(source->carries(*source->file("fs/foo.c"), "f"));
	EXPECT_EQ(source->meaning(site("mutex_lock_nested")), "f->level");
	EXPECT_FALSE(source->evaluate(0, "f->level"));
}

TEST_F(AnnotationSource, SeveralLocksAndRecursionEnd)
{
	tree({{"include/linux/mutex.h", mutex_h},
	      {"fs/foo.c", "void two(struct foo *f, int flags)\n{\n"
			   "\tmutex_lock_nested(&f->a, flags >> 4);\n"
			   "\tmutex_lock_nested(&f->b, flags & 15);\n\tagain(f, flags + 1);\n}\n"
			   "void again(struct foo *f, int flags)\n{\n\ttwo(f, flags + 1);\n}\n"
			   "void g(struct foo *f)\n{\n\ttwo(f, 0x21);\n}\n"}});
	const auto own = source->own(*source->file("fs/foo.c"), "two");
	EXPECT_EQ(own, (std::vector<std::string>{"flags>>4", "flags&15"}));
	EXPECT_FALSE(source->meaning(site("two")));
}

TEST_F(AnnotationSource, TheColumnDecidesBetweenTwoOfALine)
{
	tree({{"include/linux/mutex.h", mutex_h},
	      {"fs/foo.c",
	       "void f(void)\n{\n\tmutex_lock_nested(a, 1); mutex_lock_nested(b, 2);\n}\n"}});
	const auto file = *source->file("fs/foo.c");
	ASSERT_NE(source->acquire_at(file, 3, 27), nullptr);
	EXPECT_EQ(source->acquire_at(file, 3, 27)->call.arguments[0], "b");
	EXPECT_EQ(source->acquire_at(file, 3, 0), nullptr);
	EXPECT_EQ(source->acquire_at(file, 2, 1), nullptr);
}

Table small_table()
{
	Table table;
	table.release = "6.1.0-56-amd64";
	table.notes = {{Says::Subclass, "mutex_lock_nested", "FOO_CHILD", "f", "fs/foo.c", 12},
		       {Says::Held, "lockdep_assert_held", "&f->lock", "f", "fs/foo.c", 9}};
	auto &module = table.modules["foo"];
	module.build_id = "0123456789ab";
	module.calls[{"f", 0x1c}] = {{0, 1, ""}};
	module.in_function["f"] = {1};
	table.modules["bar"].build_id = "ba9876543210";
	return table;
}

TEST(AnnotationTable, IsReadAsItWasWritten)
{
	const Table table = small_table();
	const auto back = Table::parse(table.print(), "t");
	ASSERT_TRUE(back.ok());
	EXPECT_EQ(back->print(), table.print());
	const std::string id = "0123456789abcdef";
	const auto *call = back->call("foo", id, "f", 0x1c);
	ASSERT_NE(call, nullptr);
	EXPECT_EQ(call->subclass, 1);
	EXPECT_EQ((*back)[*call].line, 12u);
	EXPECT_EQ(back->call("foo", id, "f", 0x1d), nullptr);
	EXPECT_EQ(back->call("foo", "f" + id, "f", 0x1c), nullptr) << "another build";
	EXPECT_EQ(back->call("foo", "", "f", 0x1c), nullptr) << "no build id";
}

TEST(AnnotationTable, DamageIsAnErrorThatSaysWhatToDo)
{
	const std::string good = small_table().print();
	/* Cut anywhere. */
	for (std::size_t n = 0; n + 1 < good.size(); n++) {
		const auto table = Table::parse(std::string_view(good).substr(0, n), "t.txt");
		ASSERT_FALSE(table.ok() && n + 4 < good.size()) << n;
		if (!table) {
			EXPECT_EQ(table.error().what.rfind("t.txt:", 0), 0u);
			EXPECT_NE(table.error().hint.find("scripts/annotations"),
				  std::string::npos);
		}
	}
	for (const auto &[from, to] :
	     std::vector<std::pair<std::string, std::string>>{{"\t0\n", "\t9\n"},
							      {"\t1c", "\tg"},
							      {"subclass", "superclass"},
							      {"module\tbar", "module\tfoo"},
							      {"annotations 1", "annotations 2"},
							      {"\t12\t", "\t-12\t"},
							      {"in\tf", "on\tf"},
							      {"end\n", "end\nend\n"}}) {
		std::string bad = good;
		bad.replace(bad.find(from), from.size(), to);
		EXPECT_FALSE(Table::parse(bad, "t").ok()) << from;
	}
}

} // namespace
