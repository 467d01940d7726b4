// SPDX-License-Identifier: GPL-2.0
#include "analysis/rules/access_index.h"

#include "analysis/context.h"

#include <algorithm>

namespace lockscope {

std::string function_key(const Code &code)
{
	return code.function.empty() ? std::string()
				     : code.module + ":" + plain_function(code.function);
}

AccessIndex::AccessIndex(const Model &model) : model_(model)
{
	std::vector<bool> known(model.code.size());
	const auto takes_lock = [&](CodeId at) {
		if (!known[index(at)])
			locking_.insert(function_key(model[at]));
		known[index(at)] = true;
	};
	for (const auto &observation : model.observations)
		if (observation.acquisition())
			takes_lock(observation.acquired.at);
	std::vector<std::size_t> by_time(model.accesses.size());
	for (std::size_t i = 0; i < by_time.size(); i++)
		by_time[i] = i;
	std::stable_sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) {
		return model.accesses[a].time_ns < model.accesses[b].time_ns;
	});
	/* By acquire site of the lock, in the order of first observation. */
	std::map<CodeId, std::vector<Place>> sections;
	for (auto i : by_time) {
		const auto &access = model.accesses[i];
		for (const auto &guard : access.guards)
			takes_lock(guard.at);
		if (access.data == kNoData)
			continue;
		by_data_[index(access.data)].push_back(i);
		const Place place{access.data, access.offset};
		const std::string function = function_key(model[access.at]);
		if (access.writes())
			written_[function].insert(place);
		if (access.guards.empty())
			unlocked_[function].insert(place);
		for (const auto &guard : access.guards) {
			auto &section = sections[guard.at];
			if (std::find(section.begin(), section.end(), place) == section.end())
				section.push_back(place);
		}
	}
	locking_.erase("");
	for (const auto &[at, section] : sections) {
		if (section.size() == 1) {
			roles_[section.front()].only++;
			continue;
		}
		roles_[section.front()].first++;
		roles_[section.back()].last++;
	}
	for (const auto &access : model.accesses)
		if (level_of(access.where) == LS_TASK)
			comms_[{access.run, access.pid}] = &access.comm;
}

AccessIndex::Roles AccessIndex::roles_of(const Place &place) const
{
	const auto at = roles_.find(place);
	return at == roles_.end() ? Roles{} : at->second;
}

std::string AccessIndex::comm_of(std::uint32_t run, std::uint32_t pid) const
{
	const auto at = comms_.find({run, pid});
	return at == comms_.end() ? std::string() : *at->second;
}

std::vector<std::size_t> AccessIndex::overlapping(const MemoryAccess &access) const
{
	std::vector<std::size_t> out;
	auto at = by_data_.find(index(access.data));
	if (access.data != kNoData && at != by_data_.end())
		for (auto i : at->second)
			if (access.overlaps(model_.accesses[i]))
				out.push_back(i);
	return out;
}

const std::vector<std::size_t> &AccessIndex::of(DataId data) const
{
	static const std::vector<std::size_t> none;
	auto at = by_data_.find(index(data));
	return at == by_data_.end() ? none : at->second;
}

bool AccessIndex::takes_locks(const Code &code) const
{
	return locking_.count(function_key(code)) != 0;
}

std::size_t AccessIndex::written_in(const std::string &function) const
{
	auto at = written_.find(function);
	return at == written_.end() ? 0 : at->second.size();
}

std::size_t AccessIndex::unlocked_in(const std::string &function) const
{
	auto at = unlocked_.find(function);
	return at == unlocked_.end() ? 0 : at->second.size();
}

} // namespace lockscope
