// SPDX-License-Identifier: GPL-2.0
#include "analysis/rules/support.h"

#include "analysis/context.h"

#include <algorithm>
#include <cmath>

namespace lockscope {

namespace {

/* The largest set of pairs of a place and a section in which no place and no section occurs
 * twice: augmenting paths, after a greedy start. */
class Matching {
public:
	explicit Matching(const std::map<CodeId, std::set<std::size_t>> &edges) : edges_(edges)
	{
		for (const auto &[at, sections] : edges_)
			for (std::size_t section : sections)
				if (owner_.try_emplace(section, at).second) {
					matched_.insert(at);
					break;
				}
		for (const auto &[at, sections] : edges_) {
			if (matched_.count(at))
				continue;
			visited_.clear();
			if (augment(at))
				matched_.insert(at);
		}
	}

	std::size_t size() const { return matched_.size(); }

private:
	/* Breadth first: the depth of a path is not bounded. */
	bool augment(CodeId start)
	{
		std::map<std::size_t, CodeId> reached_from;
		std::vector<CodeId> queue{start};
		for (std::size_t next = 0; next < queue.size(); next++)
			for (std::size_t section : edges_.at(queue[next])) {
				if (!visited_.insert(section).second)
					continue;
				reached_from.emplace(section, queue[next]);
				if (auto owner = owner_.find(section); owner != owner_.end()) {
					queue.push_back(owner->second);
					continue;
				}
				flip(section, start, reached_from);
				return true;
			}
		return false;
	}

	void flip(std::size_t section, CodeId start,
		  const std::map<std::size_t, CodeId> &reached_from)
	{
		for (;;) {
			const CodeId at = reached_from.at(section);
			std::optional<std::size_t> before;
			if (at != start)
				for (std::size_t other : edges_.at(at))
					if (auto owner = owner_.find(other);
					    owner != owner_.end() && owner->second == at)
						before = other;
			owner_[section] = at;
			if (!before)
				return;
			section = *before;
		}
	}

	const std::map<CodeId, std::set<std::size_t>> &edges_;
	std::map<std::size_t, CodeId> owner_; ///< of a section
	std::set<CodeId> matched_;
	std::set<std::size_t> visited_;
};

} // namespace

double z_test(std::size_t holds, std::size_t of, double by_chance)
{
	if (of == 0)
		return 0;
	const auto n = static_cast<double>(of);
	return (static_cast<double>(holds) / n - by_chance) /
	       std::sqrt(by_chance * (1 - by_chance) / n);
}

const Protection *AccessEvidence::find(const std::string &term) const
{
	const Protection *found = nullptr;
	for (const auto &each : held) {
		if (each.term == term)
			return &each;
		/* The right object's lock also counts as one of its class. */
		if (each.of_class == term && (!found || each.exclusive))
			found = &each;
	}
	return found;
}

Support count_support(const Model &model, const std::vector<AccessEvidence> &all,
		      const Holds &holds)
{
	std::map<std::string, std::size_t> sections; ///< numbered
	std::map<CodeId, std::set<std::size_t>> edges;
	std::set<std::string> without;
	for (const auto &evidence : all) {
		const Code &code = model[evidence.at];
		const std::string function =
			code.function.empty() ? std::to_string(index(evidence.at))
					      : plain_function(code.function) + '\n' + code.module;
		auto section = holds(evidence);
		if (!section) {
			if (!evidence.alone)
				without.insert(function);
			continue;
		}
		std::string key;
		for (CodeId taken : *section)
			if (index(taken))
				key += std::to_string(index(taken)) + ' ';
		/* The begin is not known: one section for the function. */
		if (key.empty())
			key = function;
		edges[evidence.at].insert(sections.try_emplace(key, sections.size()).first->second);
	}
	Support out;
	out.holds = Matching(edges).size();
	out.of = out.holds + without.size();
	return out;
}

double Standing::points() const
{
	return (only > 1 ? 4 : only == 1 ? 2 : 0) + (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
}

Sections::Sections(const Model &model, const std::vector<std::size_t> &variables)
{
	struct Touched {
		std::uint64_t time = 0;
		std::size_t variable = 0;
	};
	/* One lock from one acquire site in one task is one section: in its first run most of
	 * its accesses got their timestamps. */
	using Key = std::tuple<std::uint32_t, std::uint32_t, CodeId, std::uint64_t>;
	std::map<Key, std::vector<Touched>> sections;
	for (std::size_t i = 0; i < model.accesses.size(); i++) {
		const auto &access = model.accesses[i];
		for (const auto &guard : access.guards)
			if (index(guard.at))
				sections[{access.run, access.pid, guard.at, guard.instance}]
					.push_back({access.time_ns, variables[i]});
	}
	for (auto &[key, touched] : sections) {
		const CodeId taken = std::get<2>(key);
		std::stable_sort(touched.begin(), touched.end(),
				 [](const auto &a, const auto &b) { return a.time < b.time; });
		const std::size_t first = touched.front().variable, last = touched.back().variable;
		if (std::all_of(touched.begin(), touched.end(),
				[&](const auto &t) { return t.variable == first; })) {
			places_[{first, taken}].insert(Only);
			continue;
		}
		places_[{first, taken}].insert(First);
		places_[{last, taken}].insert(Last);
	}
}

Standing Sections::standing(std::size_t variable, const std::set<CodeId> &taken) const
{
	Standing out;
	for (CodeId at : taken)
		if (auto found = places_.find({variable, at}); found != places_.end()) {
			out.only += found->second.count(Only);
			out.first += found->second.count(First);
			out.last += found->second.count(Last);
		}
	return out;
}

} // namespace lockscope
