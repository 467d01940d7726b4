// SPDX-License-Identifier: GPL-2.0
#include "store/load.h"

#include "store/crash_note.h"
#include "store/each_row.h"
#include "store/load_accesses.h"
#include "store/load_stat.h"
#include "store/load_trace.h"
#include "store/load_verdicts.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/writer.h"
#include "util/printable.h"
#include "util/text.h"

extern "C" {
#include "lockclass/passed.h"
}

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace lockscope {

namespace {

/// Limit of chains of one run; the module's own limit is far lower.
constexpr std::uint32_t kMaxChains = 1u << 26;

/// The module's name of static locks outside of any symbol: it identifies none.
constexpr const char *kNameless = "static lock without a symbol";

/// Names that are the same with and without types: their members are for readers only.
bool named_in_source(const LockClass &cls)
{
	return cls.origin != LS_ORIGIN_SLAB && cls.origin != LS_ORIGIN_ALLOC;
}

/// The source lines of a file, which its runs share. They are decoded where they are used.
class Lines {
public:
	Status load(Database &db)
	{
		if (loaded_) {
			if (unread_)
				db.add_unread(kTable);
			return success();
		}
		loaded_ = true;
		auto before = db.take_unread();
		auto done =
			each_row(db, "SELECT build_id, function, offset, frames FROM line",
				 [&](Statement &row) {
					 add({row.text(0), row.text(1), row.word(2), row.text(3)});
					 return true;
				 });
		unread_ = !db.take_unread().empty();
		if (unread_)
			before.push_back(kTable);
		for (auto &table : before)
			db.add_unread(std::move(table));
		return done;
	}

	/// Encoded, nullptr: not known.
	const std::string *find(const Code &place) const
	{
		const auto number = by_place_.find(
			hash_of(place), [&](std::uint32_t i) { return same(rows_[i], place); });
		return number ? &rows_[*number].frames : nullptr;
	}

private:
	static constexpr const char *kTable = "line";

	struct Row {
		std::string build_id, function;
		std::uint64_t offset = 0;
		std::string frames;
	};

	template <typename Place> static std::uint64_t hash_of(const Place &place)
	{
		return NameHash().add(place.build_id).add(place.function).add(place.offset).value();
	}

	template <typename Place> static bool same(const Row &row, const Place &place)
	{
		return row.offset == place.offset && row.function == place.function &&
		       row.build_id == place.build_id;
	}

	void add(Row row)
	{
		const auto next = static_cast<std::uint32_t>(rows_.size());
		const auto number = by_place_.find_or_add(
			hash_of(row), next, [&](std::uint32_t i) { return same(rows_[i], row); });
		if (number == next)
			rows_.push_back(std::move(row));
		else
			rows_[number] = std::move(row);
	}

	bool loaded_ = false, unread_ = false;
	std::vector<Row> rows_;
	NameIndex by_place_;
};

/// Loads one run of one file.
class RunLoader {
public:
	RunLoader(Database &db, Model &model, Lines &lines, std::int64_t id, std::uint32_t run)
		: db_(db), model_(model), lines_(lines), id_(std::to_string(id)), run_(run)
	{
	}

	Status load(Traces traces)
	{
		auto version = schema_version(db_);
		if (!version)
			return version.error();
		version_ = *version;
		LS_TRY_STATUS(load_counters());
		LS_TRY_STATUS(load_builds());
		LS_TRY_STATUS(load_classes());
		LS_TRY_STATUS(load_code());
		LS_TRY_STATUS(load_observations());
		LS_TRY_STATUS(load_chains());
		LS_TRY_STATUS(load_findings());
		LS_TRY_STATUS(load_inversions());
		if (version_ >= 3)
			LS_TRY_STATUS(load_counts());
		LS_TRY_STATUS(load_primitives());
		LS_TRY_STATUS(load_statistics());
		if (version_ >= kDeathSchema)
			LS_TRY_STATUS(load_death());
		if (version_ >= kModuleSchema)
			LS_TRY_STATUS(load_modules());
		LS_TRY_STATUS(load_verdicts(db_, model_, id_));
		const LoadedRun loaded{id_, run_, classes_, code_, stacks_};
		if (traces == Traces::Load)
			LS_TRY_STATUS(load_events(loaded));
		return load_accesses(db_, model_, loaded);
	}

private:
	template <typename Row> Status each(const std::string &select, Row row)
	{
		return each_row(db_, select + " WHERE run = " + id_, row);
	}

	Run &run() { return model_.runs[run_]; }

	ClassId cls(std::uint32_t val) const { return classes_[val & LS_VAL_CLASS_MASK]; }

	ClassId finding_class(std::uint32_t id) const
	{
		if (id == LS_CLASS_HARDIRQ)
			return kHardirqClass;
		return id == LS_CLASS_SOFTIRQ ? kSoftirqClass : cls(id);
	}

	CodeId code(std::uint64_t id) const { return code_[id]; }

	Status load_counters()
	{
		return each("SELECT name, value FROM counter", [&](Statement &row) {
			run().counters[row.text(0)] = row.word(1);
			return true;
		});
	}

	Status load_builds()
	{
		builds_["vmlinux"] = run().release + ' ' + run().build_id;
		return each("SELECT DISTINCT module, build_id FROM code", [&](Statement &row) {
			if (const auto build = row.text(1); !build.empty())
				builds_.try_emplace(row.text(0), build);
			return true;
		});
	}

	/// Validity of a name in @module, see LockClass.
	std::string within(const std::string &name, const std::string &module) const
	{
		if (!numbered(name))
			return {};
		auto at = builds_.find(module);
		return at == builds_.end() ? "run " + std::to_string(run_) : at->second;
	}

	Status load_classes()
	{
		struct Row {
			std::uint32_t canonical;
			LockClass cls;
			ClassId known = kNoClass;
		};
		std::map<std::uint32_t, Row> rows;
		/* No types before version 3. */
		const std::string type = version_ >= 3 ? "type" : "''";
		LS_TRY_STATUS(each(
			"SELECT id, canonical, kind, origin, offset, object_size, module, name,"
			" field, " +
				type + " FROM class",
			[&](Statement &row) {
				const auto kind = row.word(2), origin = row.word(3);
				if (kind >= LS_NR_KINDS || origin >= LS_NR_ORIGINS)
					return false;
				LockClass cls;
				cls.name = cls.stable = row.text(7);
				cls.kind = static_cast<ls_kind>(kind);
				cls.origin = static_cast<ls_origin>(origin);
				cls.offset = static_cast<std::uint32_t>(row.word(4));
				cls.object_size = static_cast<std::uint32_t>(row.word(5));
				cls.module = row.text(6);
				cls.type = row.text(9);
				cls.within = within(cls.name, cls.module);
				if (cls.name == kNameless)
					cls.within = "run " + std::to_string(run_) + " class " +
						     std::to_string(row.word(1));
				if (auto field = row.text(8);
				    !field.empty() && named_in_source(cls)) {
					cls.name += " " + field;
				} else if (!field.empty()) {
					/* The field is stable across changes of the layout,
					 * the offset is not. */
					const auto site = cls.name.rfind(" @ ");
					const auto role = cls.name.rfind(" (");
					if (cls.origin == LS_ORIGIN_ALLOC &&
					    site != cls.name.npos) {
						cls.name = cls.stable =
							field + cls.name.substr(site);
					} else {
						cls.stable =
							cls.name.substr(0, cls.name.rfind("+0x"));
						if (role != cls.name.npos)
							cls.stable += cls.name.substr(role);
						cls.stable += " " + field;
						cls.name += " " + field;
					}
				}
				const auto id = static_cast<std::uint32_t>(row.word(0));
				rows.insert_or_assign(id,
						      Row{static_cast<std::uint32_t>(row.word(1)),
							  std::move(cls)});
				return true;
			}));
		for (auto &[id, row] : rows) {
			const auto at = rows.find(row.canonical);
			Row &first = at == rows.end() ? row : at->second;
			if (first.known == kNoClass)
				first.known = model_.intern(std::move(first.cls));
			classes_.set(id, first.known);
		}
		return success();
	}

	Status load_code()
	{
		LS_TRY_STATUS(lines_.load(db_));
		return each("SELECT id, function, offset, module, build_id FROM code",
			    [&](Statement &row) {
				    Code place;
				    place.function = row.text(1);
				    place.offset = row.word(2);
				    place.module = row.text(3);
				    place.build_id = row.text(4);
				    const CodeId id = model_.intern(std::move(place));
				    code_.set(row.word(0), id);
				    if (id == CodeId{})
					    return true;
				    /* Known from an earlier run, most of them. */
				    Code &known = model_.code[index(id)];
				    if (const auto *lines =
						known.lines.empty() ? lines_.find(known) : nullptr)
					    known.lines = decode_lines(*lines);
				    return true;
			    });
	}

	/// @extra: of the observation. False: a row is about a lock that is not there.
	bool load_held(const std::vector<HeldRow> &rows, std::uint64_t extra,
		       std::vector<Held> &out)
	{
		for (const auto &row : rows) {
			if (row.val & LS_VAL_CLASS_MASK) {
				out.push_back({cls(row.val), row.val, code(row.code), row.lock,
					       row.object});
				continue;
			}
			if (row.code >= out.size())
				return false;
			out[row.code].passed = static_cast<std::uint16_t>(row.lock >> 16);
			out[row.code].under = static_cast<std::uint16_t>(row.lock);
		}
		const std::size_t first =
			out.size() > LS_PAST_DEPTH ? out.size() - LS_PAST_DEPTH : 0;
		for (std::uint32_t i = 0; i < LS_PAST_MORE; i++)
			if (const auto fact = ls_past_more(extra, i); fact) {
				const std::size_t at = first + ls_past_more_of(extra, i);
				if (at >= out.size())
					return false;
				out[at].more[i] = fact;
			}
		return true;
	}

	Status load_observations()
	{
		LS_TRY_STATUS(each("SELECT id, frames FROM stack", [&](Statement &row) {
			auto frames = unpack_words(row.blob(1), LS_STACK_FRAMES);
			if (!frames)
				return false;
			auto &stack = stacks_[row.word(0)];
			for (auto frame : *frames)
				stack.push_back(code(frame));
			return true;
		}));
		/* Before version 2 all observations were acquisitions. */
		const std::string later = version_ >= 2 ? "what, extra" : "0, 0";
		return each("SELECT ordinal, time, new_mask, code, lock, object, val, chain, "
			    "stack, pid,"
			    " tgid, task_flags, cpu, comm, held, " +
				    later + " FROM sight",
			    [&](Statement &row) {
				    auto held = unpack_held(row.blob(14));
				    if (!held || !valid_observation(row.word(15)))
					    return false;
				    /* Read from both ends, or twice because of a damaged page. */
				    if (run().observations.contains(
						static_cast<std::uint32_t>(row.word(0))))
					    return true;
				    Observation observation;
				    observation.what = static_cast<std::uint32_t>(row.word(15));
				    observation.extra = row.word(16);
				    observation.run = run_;
				    observation.ordinal = static_cast<std::uint32_t>(row.word(0));
				    observation.time_ns = row.word(1);
				    observation.new_mask = row.word(2);
				    const auto val = static_cast<std::uint32_t>(row.word(6));
				    observation.acquired = {cls(val), val, code(row.word(3)),
							    row.word(4), row.word(5)};
				    observation.chain = static_cast<std::uint32_t>(row.word(7));
				    if (auto at = stacks_.find(row.word(8)); at != stacks_.end())
					    observation.stack = at->second;
				    observation.pid = static_cast<std::uint32_t>(row.word(9));
				    observation.tgid = static_cast<std::uint32_t>(row.word(10));
				    observation.task_flags =
					    static_cast<std::uint32_t>(row.word(11));
				    observation.cpu = static_cast<std::uint32_t>(row.word(12));
				    observation.comm = row.text(13);
				    const std::uint64_t facts =
					    observation.acquisition() ? observation.extra : 0;
				    if (!load_held(*held, facts, observation.held))
					    return false;
				    if (observation.what == LS_FINDING_IN_FREED &&
					!observation.held.empty()) {
					    observation.freed_at = observation.held.back().at;
					    observation.held.pop_back();
					    observation.new_mask = 0;
				    }
				    run().observations[observation.ordinal] =
					    model_.observations.size();
				    model_.observations.push_back(std::move(observation));
				    return true;
			    });
	}

	Status load_chains()
	{
		return each("SELECT id, parent, val, code, count FROM chain", [&](Statement &row) {
			const auto id = row.word(0), parent = row.word(1);
			/* A parent is older than its child, so walks terminate. */
			if (id == 0 || id > kMaxChains || parent >= id)
				return false;
			auto &chains = run().chains;
			if (chains.size() <= id)
				chains.resize(id + 1);
			const auto val = static_cast<std::uint32_t>(row.word(2));
			chains[id] = {static_cast<std::uint32_t>(parent), val, cls(val),
				      code(row.word(3)), row.word(4)};
			return true;
		});
	}

	Status load_findings()
	{
		return each("SELECT id, kind, edges FROM kernel_finding", [&](Statement &row) {
			auto words = unpack_words(row.blob(2), std::size_t{65536});
			if (!words || words->size() % kWordsPerEdge != 0)
				return false;
			KernelFinding finding{run_,
					      static_cast<std::uint32_t>(row.word(0)),
					      static_cast<std::uint32_t>(row.word(1)),
					      {},
					      {}};
			for (std::size_t i = 0; i < words->size(); i += kWordsPerEdge) {
				finding.classes.push_back(finding_class((*words)[i]));
				finding.observations.push_back((*words)[i + 3]);
			}
			model_.kernel_findings.push_back(std::move(finding));
			return true;
		});
	}

	Status load_inversions()
	{
		return each("SELECT class, same, first, second FROM inversion",
			    [&](Statement &row) {
				    model_.inversions.push_back(
					    {run_, cls(static_cast<std::uint32_t>(row.word(0))),
					     row.integer(1) != 0,
					     static_cast<std::uint32_t>(row.word(2)),
					     static_cast<std::uint32_t>(row.word(3))});
				    return true;
			    });
	}

	Status load_counts()
	{
		return each("SELECT class, acquires, releases, unmatched_releases,"
			    " unmatched_acquires, nested FROM class_count",
			    [&](Statement &row) {
				    /* Older stores have no instances at the end. */
				    auto nested = unpack_words(row.blob(5), LS_NR_NESTINGS + 2);
				    const ClassId id = cls(static_cast<std::uint32_t>(row.word(0)));
				    if (!nested || row.word(3) > row.word(2))
					    return false;
				    if (id == kNoClass)
					    return true;
				    ClassCounts &counts = model_.counts[id];
				    counts.acquires += row.word(1);
				    counts.releases += row.word(2);
				    counts.unmatched_releases += row.word(3);
				    counts.unmatched_acquires += row.word(4);
				    nested->resize(LS_NR_NESTINGS + 2);
				    for (std::size_t i = 0; i < LS_NR_NESTINGS; i++)
					    counts.nested[i] += (*nested)[i];
				    counts.instances += (*nested)[LS_NR_NESTINGS];
				    counts.handed += (*nested)[LS_NR_NESTINGS + 1];
				    return true;
			    });
	}

	Status load_primitives()
	{
		return each(
			"SELECT function, kind, state, error FROM primitive", [&](Statement &row) {
				if (row.word(1) >= LS_NR_KINDS || row.word(2) >= LS_NR_PRIM_STATES)
					return false;
				run().primitives.push_back({row.text(0),
							    static_cast<ls_kind>(row.word(1)),
							    static_cast<ls_prim_state>(row.word(2)),
							    static_cast<int>(row.integer(3))});
				return true;
			});
	}

	/* What the log has of a place shows that it was reached. */
	Status load_modules()
	{
		std::set<std::tuple<std::string, std::string, std::uint64_t>> seen;
		LS_TRY_STATUS(each("SELECT name, build_id, decoded, instrumented FROM module",
				   [&](Statement &row) {
					   run().modules.push_back({row.text(0),
								    row.text(1),
								    row.integer(2) != 0,
								    row.integer(3) != 0,
								    {}});
					   return true;
				   }));
		if (run().modules.empty())
			return success();
		LS_TRY_STATUS(
			each("SELECT module, function, offset FROM code", [&](Statement &row) {
				seen.emplace(row.text(0), row.text(1), row.word(2));
				return true;
			}));
		return each("SELECT module, function, offset, primitive, start, reached,"
			    " reached IS NULL FROM lock_site",
			    [&](Statement &row) {
				    OwnSite site;
				    site.place.module = row.text(0);
				    site.place.function = row.text(1);
				    site.place.offset = row.word(2);
				    site.primitive = row.text(3);
				    site.start = row.integer(4) != 0;
				    if (seen.count({row.text(0), row.text(1), row.word(2)}))
					    site.reached = true;
				    else if (!row.integer(6))
					    site.reached = row.integer(5) != 0;
				    for (auto &module : run().modules)
					    if (module.name == site.place.module) {
						    site.place.build_id = module.build_id;
						    if (const auto *lines = lines_.find(site.place))
							    site.place.lines = decode_lines(*lines);
						    module.sites.push_back(std::move(site));
						    break;
					    }
				    return true;
			    });
	}

	Status load_statistics()
	{
		auto stat = load_stat(db_, id_);
		if (!stat)
			return stat.error();
		if (*stat)
			(*stat)->release = run().release;
		run().stat = std::move(*stat);
		return success();
	}

	Status load_death()
	{
		std::shared_ptr<Death> death;
		const auto line = [](std::string text) {
			std::replace(text.begin(), text.end(), '\n', '?');
			return printable(std::move(text));
		};
		LS_TRY_STATUS(
			each("SELECT cause, messages, missing FROM death", [&](Statement &row) {
				death = std::make_shared<Death>();
				death->cause = line(row.text(0));
				death->messages = printable(row.text(1));
				for (const auto &missing : split(printable(row.text(2)), '\n'))
					if (!missing.empty())
						death->missing.push_back(missing);
				return true;
			}));
		if (!death)
			return success();
		run().death = death;
		return each(
			"SELECT comm, pid, tgid, cpu, level, waits, locks FROM dead_context",
			[&](Statement &row) {
				auto locks = unpack_held(row.blob(6));
				const auto waits = row.word(5);
				if (!locks || row.word(4) >= LS_NR_LEVELS || waits > locks->size())
					return false;
				DeadContext c;
				c.comm = line(row.text(0));
				c.pid = static_cast<std::uint32_t>(row.word(1));
				c.tgid = static_cast<std::uint32_t>(row.word(2));
				if (const auto cpu = row.integer(3); cpu >= 0)
					c.cpu = static_cast<std::uint32_t>(cpu);
				c.level = static_cast<ls_level>(row.word(4));
				for (const auto &lock : *locks)
					c.held.push_back({cls(lock.val), lock.val, code(lock.code),
							  lock.lock, lock.object});
				if (waits) {
					c.waits = c.held.back();
					c.held.pop_back();
				}
				death->contexts.push_back(std::move(c));
				return true;
			});
	}

	Status load_events(const LoadedRun &loaded)
	{
		auto trace = load_trace(db_, loaded);
		if (!trace)
			return trace.error();
		if (!trace->spans.empty())
			run().trace = std::make_shared<LockTrace>(std::move(*trace));
		return success();
	}

	Database &db_;
	Model &model_;
	Lines &lines_;
	std::string id_;
	std::uint32_t run_;
	std::int64_t version_ = 0;
	std::map<std::string, std::string> builds_; ///< of modules
	Numbers<ClassId> classes_{kNoClass};
	Numbers<CodeId> code_{CodeId{}};
	std::unordered_map<std::uint64_t, std::vector<CodeId>> stacks_;
};

/* The same run from another file. */
Run *already_there(Model &model, const Run &run)
{
	const auto at = std::find_if(model.runs.begin(), model.runs.end(), [&](const Run &other) {
		return other.instance == run.instance && other.boot == run.boot;
	});
	return at == model.runs.end() ? nullptr : &*at;
}

/* One step of a SELECT of runs: a damaged file may lack the rest. */
Result<bool> next_run(Database &db, Statement &runs)
{
	auto more = runs.step();
	return more || !db.salvaging() ? more : Result<bool>(false);
}

/* Growing step by step takes up to twice the memory. A hint only: the number may be anything. */
void make_room(Database &db, Model &model)
{
	constexpr std::int64_t kMost = 1 << 22;
	const auto expected = db.query_integer("SELECT sum(sights) FROM run");
	if (!expected || *expected < 0 || *expected > kMost)
		return;
	const std::size_t all = model.observations.size() + static_cast<std::size_t>(*expected);
	if (all > 2 * model.observations.capacity())
		model.observations.reserve(all);
}

Status load_runs(Database &db, bool writing, Model &model, Traces traces)
{
	/* One snapshot of a store that may be written concurrently. */
	LS_TRY_STATUS(db.exec("BEGIN"));
	auto version = schema_version(db);
	if (!version)
		return version.error();
	auto runs = db.prepare(
		"SELECT id, instance, boot, backend, release, build_id, started, updated, " +
		(*version >= kFinishSchema ? "finish, problem" : finish_of_old_run() + ", ''") +
		" FROM run ORDER BY id");
	if (!runs)
		return runs.error();
	/* Until the next writer takes it into the store. */
	const auto crash = writing ? std::nullopt : crash_note(db.path());
	make_room(db, model);
	Lines lines;
	for (;;) {
		auto more = next_run(db, *runs);
		if (!more)
			return more.error();
		if (!*more)
			return success();
		Run run;
		run.instance = runs->text(1);
		run.boot = runs->text(2);
		run.backend = runs->text(3);
		run.release = runs->text(4);
		run.build_id = runs->text(5);
		run.started = runs->integer(6);
		run.updated = runs->integer(7);
		/* An end of an unknown kind. */
		const auto end = runs->word(8);
		run.end = end <= static_cast<std::uint64_t>(RunEnd::Crashed)
				  ? static_cast<RunEnd>(end)
				  : RunEnd::Open;
		run.problem = runs->text(9);
		if (crash && crash->run == runs->integer(0) && run.end == RunEnd::Open) {
			run.end = RunEnd::Crashed;
			run.problem = crash_words(*crash);
		}
		run.writing = writing;
		run.file = db.path();
		if (Run *known = already_there(model, run)) {
			/* Confirm may have written to one of two copies. */
			const auto id = std::to_string(runs->integer(0));
			LS_TRY_STATUS(load_verdicts(db, model, id));
			for (auto &table : db.take_unread())
				known->unread.push_back(std::move(table));
			continue;
		}
		const auto number = static_cast<std::uint32_t>(model.runs.size());
		model.runs.push_back(std::move(run));
		LS_TRY_STATUS(RunLoader(db, model, lines, runs->integer(0), number).load(traces));
		model.runs[number].unread = db.take_unread();
	}
}

} // namespace

Status load_store(const std::string &path, Model &model, Damage damage, Traces traces)
{
	auto db = open_store(path, Access::Read);
	if (!db && damage == Damage::Salvage) {
		auto salvaged = open_store(path, Access::Salvage);
		const std::size_t before = model.runs.size();
		if (salvaged && load_runs(*salvaged, is_being_written(path), model, traces) &&
		    model.runs.size() > before) {
			model.damaged.push_back(path);
			return success();
		}
		model.runs.resize(before);
	}
	if (!db)
		return db.error();
	return load_runs(*db, is_being_written(path), model, traces);
}

Result<Model> load_stores(const std::vector<std::string> &paths, Damage damage, Traces traces)
{
	Model model;
	for (const auto &path : paths)
		LS_TRY_STATUS(load_store(path, model, damage, traces));
	return model;
}

Result<Model> load_written(StoreWriter &store)
{
	Model model;
	Database &db = store.database();
	const auto loaded = load_runs(db, true, model, Traces::Leave);
	const auto ended = db.exec("ROLLBACK"); /* of the snapshot */
	if (!loaded)
		return loaded.error();
	if (!ended)
		return ended.error();
	return model;
}

std::uint64_t store_bytes(const std::string &path)
{
	/* Not opened: closing a file drops locks that SQLite has on it. */
	std::uint64_t bytes = 0;
	for (const auto &file : {path, path + "-wal"}) {
		struct stat status {};
		if (::stat(file.c_str(), &status) == 0)
			bytes += static_cast<std::uint64_t>(status.st_size);
	}
	return bytes;
}

} // namespace lockscope
