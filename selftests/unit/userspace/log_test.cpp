// SPDX-License-Identifier: GPL-2.0
// The log decoder: every way a record can be wrong.
#include "support.h"

#include "log/log.h"

#include <cstring>

using namespace lockscope;
using namespace lockscope::test;

namespace {

struct Decoded {
	std::vector<LogRecord> records;
	std::size_t used = 0;
	LogDecoder decoder;
};

Decoded decoded(const std::vector<std::byte> &log)
{
	Decoded out;
	out.used = out.decoder.decode(log, out.records);
	return out;
}

/* A well-formed log with one record of each type whose bytes a test spoils. */
class LogTest : public testing::Test {
protected:
	LogTest()
	{
		lock = log.add_class("lock");
		inner = log.add_class("inner");
	}

	template <typename Raw> Raw *last()
	{
		bytes = log.log();
		std::size_t at = 0, previous = 0;
		while (at < bytes.size()) {
			ls_rec header;
			std::memcpy(&header, bytes.data() + at, sizeof(header));
			previous = at;
			at += header.len;
		}
		return reinterpret_cast<Raw *>(bytes.data() + previous);
	}

	void expect_refused(const char *words)
	{
		auto out = decoded(bytes);
		EXPECT_EQ(out.decoder.malformed(), 1u);
		EXPECT_FALSE(out.decoder.broken());
		EXPECT_EQ(out.used, bytes.size());
		EXPECT_NE(out.decoder.problem().find(words), std::string::npos)
			<< out.decoder.problem();
	}

	void expect_broken()
	{
		auto out = decoded(bytes);
		EXPECT_TRUE(out.decoder.broken());
		EXPECT_EQ(out.decoder.malformed(), 1u);
		EXPECT_FALSE(out.decoder.problem().empty());
		EXPECT_EQ(out.records.size(), 1u);
	}

	LogBuilder log;
	std::uint32_t lock = 0, inner = 0;
	std::vector<std::byte> bytes;
};

} // namespace

TEST_F(LogTest, ModulesAndWhereTheirCodeLies)
{
	ls_rec_module record{};
	record.hdr = {sizeof(record), LS_REC_MODULE, 0};
	record.state = LS_MODULE_STARTED;
	record.text = 0x1000;
	record.text_end = 0x3000;
	std::strcpy(record.module, "foo");
	log.raw(&record, sizeof(record));
	bytes = log.log();
	const auto out = decoded(bytes);
	ASSERT_FALSE(out.records.empty());
	const auto *module = std::get_if<ModuleRecord>(&out.records.back());
	ASSERT_TRUE(module);
	EXPECT_EQ(module->module, "foo");
	EXPECT_EQ(module->state, std::uint32_t{LS_MODULE_STARTED});
	EXPECT_EQ(module->text, 0x1000u);
	EXPECT_EQ(module->text_end, 0x3000u);
	EXPECT_EQ(module->init_end, 0u);
	last<ls_rec_module>()->state = 0;
	expect_refused("unknown state");
	last<ls_rec_module>()->text_end = 0x800;
	expect_refused("ends before it begins");
	last<ls_rec_module>()->module[0] = 0;
	expect_refused("name does not end");
	std::memset(last<ls_rec_module>()->module, 'x', LS_MODULE_LEN);
	expect_refused("name does not end");
}

TEST_F(LogTest, DecodesWhatItWasGiven)
{
	log.acquire({.pid = 7, .comm = "task", .stack = {"outer"}},
		    {{.cls = lock, .address = 0x10}},
		    {.cls = inner, .address = 0x20, .read = LS_SHARED});
	log.inversion(lock, true, 3, 4);
	log.finding({lock, inner});
	log.reset();
	auto out = decoded(log.log());
	ASSERT_EQ(out.records.size(), 7u);
	EXPECT_EQ(out.decoder.malformed(), 0u);
	EXPECT_EQ(std::get<ClassRecord>(out.records[0]).name, "lock");
	EXPECT_EQ(std::get<StackRecord>(out.records[2]).ip.size(), 2u);
	const auto &sight = std::get<ObservationRecord>(out.records[3]);
	EXPECT_EQ(sight.comm, "task");
	EXPECT_EQ(sight.pid, 7u);
	ASSERT_EQ(sight.held.size(), 1u);
	EXPECT_EQ(sight.held[0].lock, 0x10u);
	EXPECT_EQ(sight.lock, 0x20u);
	EXPECT_TRUE(std::get<InversionRecord>(out.records[4]).same_instance);
	EXPECT_EQ(std::get<FindingRecord>(out.records[5]).edges.size(), 2u);
	EXPECT_TRUE(std::holds_alternative<ResetRecord>(out.records[6]));
}

TEST_F(LogTest, EmptyLogIsFine)
{
	auto out = decoded({});
	EXPECT_EQ(out.used, 0u);
	EXPECT_FALSE(out.decoder.broken());
}

TEST_F(LogTest, UnknownTypeIsSkippedAndCounted)
{
	last<ls_rec>()->type = 4711;
	auto out = decoded(bytes);
	EXPECT_EQ(out.decoder.unknown(), 1u);
	EXPECT_EQ(out.decoder.malformed(), 0u);
	EXPECT_EQ(out.records.size(), 1u);
}

TEST_F(LogTest, LengthZeroBreaksTheLog)
{
	last<ls_rec>()->len = 0;
	expect_broken();
}

TEST_F(LogTest, LengthNotAMultipleOfEightBreaksTheLog)
{
	last<ls_rec>()->len -= 4;
	expect_broken();
}

TEST_F(LogTest, LengthBeyondTheEndBreaksTheLog)
{
	last<ls_rec>()->len += 8;
	expect_broken();
}

TEST_F(LogTest, EnormousLengthBreaksTheLog)
{
	last<ls_rec>()->len = 0xfffffff8;
	expect_broken();
}

TEST_F(LogTest, HeaderCutOffBreaksTheLog)
{
	last<ls_rec>();
	bytes.resize(sizeof(ls_rec_class) + 4);
	expect_broken();
}

TEST_F(LogTest, ClassNameWithoutEnd)
{
	auto *record = last<ls_rec_class>();
	std::memset(record->name, 'x', sizeof(record->name));
	expect_refused("does not end");
}

TEST_F(LogTest, ClassModuleWithoutEnd)
{
	auto *record = last<ls_rec_class>();
	std::memset(record->module, 'x', sizeof(record->module));
	expect_refused("does not end");
}

TEST_F(LogTest, ClassWithoutName)
{
	last<ls_rec_class>()->name[0] = 0;
	expect_refused("does not end");
}

TEST_F(LogTest, ClassIdOutOfRange)
{
	last<ls_rec_class>()->id = 0;
	expect_refused("id");
	last<ls_rec_class>()->id = LS_VAL_CLASS_MASK + 1;
	expect_refused("id");
	last<ls_rec_class>()->canonical = 0;
	expect_refused("id");
}

TEST_F(LogTest, ClassKindAndOriginOutOfRange)
{
	last<ls_rec_class>()->kind = LS_NR_KINDS;
	expect_refused("kind");
	last<ls_rec_class>()->origin = LS_NR_ORIGINS;
	expect_refused("kind");
}

TEST_F(LogTest, ClassOfWrongLength)
{
	last<ls_rec_class>()->hdr.len -= 8;
	bytes.resize(bytes.size() - 8);
	expect_refused("length");
}

TEST_F(LogTest, ControlCharactersInNamesAreReplaced)
{
	last<ls_rec_class>()->name[0] = '\033';
	auto out = decoded(bytes);
	EXPECT_EQ(std::get<ClassRecord>(out.records[1]).name, "?nner");
}

TEST_F(LogTest, StackCountThatDoesNotFit)
{
	log.acquire({.stack = {"outer"}}, {}, {.cls = lock});
	bytes = log.log();
	auto *stack = reinterpret_cast<ls_rec_stack *>(bytes.data() + 2 * sizeof(ls_rec_class));
	ASSERT_EQ(stack->hdr.type, LS_REC_STACK);
	stack->nr++;
	expect_refused("frame count");
	stack->nr = LS_STACK_FRAMES + 1;
	expect_refused("frame count");
	stack->nr = 2;
	stack->id = 0;
	expect_refused("id");
}

TEST_F(LogTest, MalformedSightKeepsItsNumber)
{
	log.acquire({}, {{.cls = lock}}, {.cls = inner});
	auto *sight = last<ls_rec_sight>();
	sight->nr_held = 2;
	expect_refused("held count");
	EXPECT_EQ(decoded(bytes).records.size(), 4u);
	sight->nr_held = LS_MAX_DEPTH + 1;
	expect_refused("held count");
}

TEST_F(LogTest, SightWithImpossibleClasses)
{
	log.acquire({}, {{.cls = lock}}, {.cls = inner});
	last<ls_rec_sight>()->val = 0;
	expect_refused("class or mode");
	last<ls_rec_sight>()->val |= LS_VAL_READ_MASK;
	expect_refused("class or mode");
	last<ls_rec_sight>()->held[0].val = 0;
	expect_refused("held lock");
}

TEST_F(LogTest, SightsOfOtherSorts)
{
	log.release({}, {{.cls = inner}}, {.cls = lock});
	log.fault(LS_FINDING_LONG_HOLD, {}, {}, {.cls = lock}, 0, 42);
	/* Only a fault can be about no lock. */
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.level = LS_SOFTIRQ}, {{.cls = inner}}, {}, 1);
	auto out = decoded(log.log());
	EXPECT_EQ(out.decoder.malformed(), 0u) << out.decoder.problem();
	ASSERT_EQ(out.records.size(), 8u);
	EXPECT_EQ(std::get<ObservationRecord>(out.records[3]).what, LS_SIGHT_RELEASE);
	EXPECT_EQ(std::get<ObservationRecord>(out.records[5]).extra, 42u);
	EXPECT_TRUE(std::get<ObservationRecord>(out.records[7]).valid);
	EXPECT_EQ(std::get<ObservationRecord>(out.records[7]).lock, 0u);

	for (std::uint32_t what : {3u, 4u, std::uint32_t{LS_NR_FINDINGS}, ~0u}) {
		last<ls_rec_sight>()->what = what;
		expect_refused("unknown sort");
	}
	for (std::uint32_t what : {LS_SIGHT_RELEASE, LS_SIGHT_COMPLETE}) {
		last<ls_rec_sight>()->what = what;
		expect_refused("class or mode");
	}
	last<ls_rec_sight>()->val |= LS_VAL_READ_MASK;
	expect_refused("class or mode");
}

TEST_F(LogTest, FindingsNameInterruptsOrNoLock)
{
	log.finding({LS_CLASS_HARDIRQ, lock}, LS_FINDING_IRQ_STATE);
	log.finding({LS_CLASS_SOFTIRQ, lock, inner}, LS_FINDING_IRQ_INVERSION);
	log.finding({0}, LS_FINDING_SLEEP_ATOMIC);
	EXPECT_EQ(decoded(log.log()).decoder.malformed(), 0u);
	last<ls_rec_finding>()->kind = LS_FINDING_IRQ_STATE;
	expect_refused("class");
	last<ls_rec_finding>()->edges[0].from = LS_CLASS_SOFTIRQ + 1;
	expect_refused("class");
}

TEST_F(LogTest, SightWithEndlessTaskName)
{
	log.acquire({}, {}, {.cls = lock});
	auto *sight = last<ls_rec_sight>();
	std::memset(sight->comm, 'c', sizeof(sight->comm));
	expect_refused("task name");
}

TEST_F(LogTest, FindingWithoutEdgesOrWithWrongOnes)
{
	log.finding({lock, inner});
	last<ls_rec_finding>()->nr_edges = 3;
	expect_refused("edge count");
	last<ls_rec_finding>()->edges[1].to = 0;
	expect_refused("class");
	last<ls_rec_finding>()->id = 0;
	expect_refused("id");
}

TEST_F(LogTest, SymbolWithoutEnd)
{
	ls_rec_symbol record{};
	record.hdr = {sizeof(record), LS_REC_SYMBOL, 0};
	std::memset(record.function, 'f', sizeof(record.function));
	log.raw(&record, sizeof(record));
	last<ls_rec_symbol>();
	expect_refused("does not end");
}

TEST_F(LogTest, InversionOfImpossibleClass)
{
	log.inversion(lock, false, 0, 1);
	last<ls_rec_inversion>()->class_id = 0;
	expect_refused("class");
}

TEST(Image, RoundTripAndRefusal)
{
	LogBuilder log;
	log.add_class("lock");
	log.prims().push_back({});
	const std::string bytes = encode_image(log.image());
	auto image = decode_image(bytes, "x");
	ASSERT_TRUE(image.ok());
	EXPECT_EQ(image->log, log.image().log);
	EXPECT_EQ(image->prims.size(), 1u);
	EXPECT_FALSE(decode_image("nonsense", "x").ok());
	/* Cut anywhere before the log: refused, never read beyond. */
	const std::size_t head = bytes.size() - log.image().log.size();
	for (std::size_t n = 0; n < head; n += 7)
		EXPECT_FALSE(decode_image(bytes.substr(0, n), "x").ok());
}
