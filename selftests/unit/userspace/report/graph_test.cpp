// SPDX-License-Identifier: GPL-2.0
// Pictures of findings and of the lock-order graph, and their text for graphviz.
#include "report/logs.h"
#include "support.h"

#include "report/graph.h"
#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>

using namespace lockscope;
using namespace lockscope::test;

namespace {

std::vector<std::string> names(const Picture &picture)
{
	std::vector<std::string> out;
	for (const auto &node : picture.nodes)
		out.push_back(node.name);
	return out;
}

/// "a -> b" of each arrow, a star before those of findings.
std::vector<std::string> arrows(const Picture &picture)
{
	std::vector<std::string> out;
	for (const auto &arrow : picture.arrows)
		out.push_back((arrow.bad ? "*" : "") + picture.nodes[arrow.from].name + " -> " +
			      picture.nodes[arrow.to].name);
	std::sort(out.begin(), out.end());
	return out;
}

Picture picture_of_kind(const Model &model, FindingKind kind)
{
	for (const auto &finding : analyse(model).findings)
		if (finding.kind == kind)
			return picture_of(model, finding);
	ADD_FAILURE() << "no such finding";
	return {};
}

using Names = std::vector<std::string>;

/// a -> b -> c -> d, b -> a in another task, and e alone.
LogBuilder chain_log()
{
	LogBuilder log;
	std::uint32_t locks[5];
	for (int i = 0; i < 5; i++)
		locks[i] = log.add_class(std::string("mod:") + static_cast<char>('a' + i),
					 LS_KIND_MUTEX, LS_ORIGIN_STATIC, 0, 0,
					 i == 2 ? "other" : "mod");
	for (std::uint32_t i = 0; i < 3; i++)
		log.acquire({.pid = i + 1, .stack = {"f", "__x64_sys_read"}}, {{.cls = locks[i]}},
			    {.cls = locks[i + 1]});
	log.acquire({.pid = 9, .stack = {"g", "__x64_sys_write"}}, {{.cls = locks[1]}},
		    {.cls = locks[0]});
	log.acquire({.pid = 9}, {}, {.cls = locks[4]});
	return log;
}

} // namespace

TEST(Picture, OfACycleHasItsLocksAndDependencies)
{
	const Model model = model_of(small_log());
	const auto picture = picture_of(model, analyse(model).findings.at(0));
	EXPECT_EQ(names(picture), (Names{"&dev->bar_mutex", "foo_lock"}));
	EXPECT_EQ(arrows(picture),
		  (Names{"*&dev->bar_mutex -> foo_lock", "*foo_lock -> &dev->bar_mutex"}));
	EXPECT_EQ(picture.arrows[1].label, "foo_open, bar_lock_device");
	EXPECT_EQ(picture.arrows[1].by, "system call openat, dmsetup-116");
	EXPECT_EQ(picture.nodes[0].shape, Picture::Shape::Sleeps);
	EXPECT_EQ(picture.nodes[0].about, "mutex, one per object");
	EXPECT_EQ(picture.nodes[1].shape, Picture::Shape::Spins);
	EXPECT_EQ(picture.nodes[1].about, "spinlock, foo");
}

TEST(Picture, OfAnInterruptHasItAsANode)
{
	const auto picture =
		picture_of_kind(model_of(other_kinds()), FindingKind::InconsistentIrqState);
	EXPECT_EQ(arrows(picture), (Names{"*cache+0x8 -> softirq", "*softirq -> cache+0x8"}));
	EXPECT_EQ(picture.nodes[0].shape, Picture::Shape::Interrupt);
}

TEST(Picture, OfAFaultHasWhatIsHeldThere)
{
	const auto picture =
		picture_of_kind(model_of(other_kinds()), FindingKind::InvalidWaitContext);
	EXPECT_EQ(arrows(picture), (Names{"*foo_wait -> m", "bar_lock -> foo_wait"}));
	const auto alone = picture_of_kind(model_of(other_kinds()), FindingKind::SleepInAtomic);
	EXPECT_EQ(names(alone), Names{"foo_irq_sleep"});
}

TEST(Picture, OfARaceHasTheVariableAndItsAccesses)
{
	const auto picture = picture_of_kind(model_of(race_log()), FindingKind::DataRace);
	EXPECT_EQ(arrows(picture),
		  (Names{"*foo_add -> foo_cache+0x8", "*foo_show -> foo_cache+0x8"}));
	EXPECT_EQ(picture.arrows[0].label, "write");
	EXPECT_EQ(picture.status, "warning, confirmed, id cff1b7f89e6b0191");
}

TEST(Picture, NeighboursAreThoseWithinTheDepth)
{
	const Model model = model_of(chain_log());
	const auto analysis = analyse(model);
	const auto around = [&](unsigned depth) {
		return picture_of(model, analysis, {.classes = "mod:a", .depth = depth});
	};
	EXPECT_EQ(names(around(0)), Names{"a"});
	EXPECT_TRUE(around(0).arrows.empty());
	EXPECT_EQ(arrows(around(1)), (Names{"*a -> b", "*b -> a"}));
	EXPECT_EQ(arrows(around(2)), (Names{"*a -> b", "*b -> a", "b -> c"}));
	EXPECT_EQ(arrows(around(3)), (Names{"*a -> b", "*b -> a", "b -> c", "c -> d"}));
	EXPECT_TRUE(around(3).nodes[0].marked);
	EXPECT_FALSE(around(3).nodes[1].marked);
	EXPECT_EQ(names(picture_of(model, analysis, {.classes = "mod:?", .depth = 0})).size(), 5u);
	EXPECT_TRUE(picture_of(model, analysis, {.classes = "nothing"}).nodes.empty());
}

TEST(Picture, OfAModuleHasItsLocks)
{
	const Model model = model_of(chain_log());
	const auto picture = picture_of(model, analyse(model), {.module = "other", .depth = 1});
	EXPECT_EQ(names(picture), (Names{"c", "b", "d"}));
	EXPECT_EQ(arrows(picture), (Names{"b -> c", "c -> d"}));
}

TEST(Picture, IsBounded)
{
	LogBuilder log;
	const auto hub = log.add_class("hub", LS_KIND_MUTEX);
	for (std::uint32_t i = 0; i < 320; i++)
		log.acquire({.pid = 1}, {{.cls = hub}},
			    {.cls = log.add_class("spoke" + std::to_string(i), LS_KIND_MUTEX)});
	const Model model = model_of(log);
	const auto picture = picture_of(model, analyse(model), {.classes = "hub"});
	EXPECT_EQ(picture.nodes.size(), 300u);
	EXPECT_EQ(picture.arrows.size(), 299u);
	EXPECT_EQ(picture.left_out, 21u);
	EXPECT_NE(dot_text(picture).find("21 more lock classes"), std::string::npos);
}

TEST(DotText, NamesStayInTheirQuotes)
{
	const Model model = model_of(hostile_log());
	for (const auto &finding : analyse(model).findings) {
		const auto picture = picture_of(model, finding);
		const std::string text = dot_text(picture);
		EXPECT_EQ(text, valid_utf8(text));
		/* Outside of quotes stands what dot_text() writes, and nothing else. */
		std::string bare;
		bool quoted = false;
		for (std::size_t i = 0; i < text.size(); i++) {
			if (text[i] == '\\' && quoted)
				i++;
			else if (text[i] == '"')
				quoted = !quoted;
			else if (!quoted)
				bare += text[i];
		}
		EXPECT_FALSE(quoted);
		EXPECT_EQ(static_cast<std::size_t>(std::count(bare.begin(), bare.end(), ';')),
			  3 + picture.nodes.size() + picture.arrows.size());
		EXPECT_EQ(bare.find("a -> b"), std::string::npos) << bare;
		EXPECT_EQ(text.find("&#"), std::string::npos) << "graphviz reads entities";
	}
}

TEST(DotText, LongNamesAreWrappedAndCut)
{
	Picture picture;
	picture.nodes.push_back({std::string(50, 'x') + " @ " + std::string(200, 'y'), "mutex", "",
				 Picture::Shape::Sleeps, false});
	const std::string text = dot_text(picture);
	EXPECT_NE(text.find(std::string(50, 'x') + "\\n@\\n"), std::string::npos) << text;
	EXPECT_NE(text.find("yyy...\\nmutex\""), std::string::npos) << text;
	EXPECT_EQ(text.find(std::string(100, 'y')), std::string::npos);
}
