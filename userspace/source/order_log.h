// SPDX-License-Identifier: GPL-2.0
// Converts observations of BPF programs to the log that the module would have written.
#pragma once

#include "analysis/orders/cycles.h"
#include "source/order_classes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace lockscope {

class OrderLog {
public:
	/// @code resolves functions: frames of lock functions are skipped by name.
	OrderLog(OrderClasses classes, OrderClasses::Lookup code)
		: classes_(std::move(classes)), code_(std::move(code)), pairs_(kInstances, kPairs)
	{
	}

	/// Add the observations of @observation: new classes and stacks, the observation itself,
	/// and orders of instances of one class.
	void add(const ls_order_observation &observation);

	const std::vector<std::byte> &bytes() const { return log_; }
	std::uint32_t classes() const { return classes_.size(); }
	std::uint32_t edges() const { return static_cast<std::uint32_t>(edges_.size()); }
	std::uint32_t stacks() const { return static_cast<std::uint32_t>(stacks_.size()); }
	std::uint32_t observations() const { return observations_; }
	std::uint32_t findings() const { return findings_; }
	/// Addresses of the observed semaphores of each class.
	const std::map<std::uint32_t, std::set<std::uint64_t>> &semaphores() const
	{
		return semaphores_;
	}
	/// Pairs of instances without room.
	std::uint64_t lost_pairs() const { return lost_pairs_; }

private:
	static constexpr std::uint32_t kInstances = 16384, kPairs = 65536;

	struct Taken {
		ls_order_lock lock;
		std::uint32_t cls;
		std::uint32_t life;
	};

	void note_semaphore(const Taken &lock);
	void append(const void *record, std::size_t size, const void *more = nullptr,
		    std::size_t more_size = 0);
	void append_classes();
	std::vector<std::uint64_t> stack_of(const ls_order_observation &observation,
					    std::uint64_t &ip);
	std::uint32_t stack_id(const std::vector<std::uint64_t> &frames);
	void look_at_instances(const std::vector<Taken> &held, const Taken &taken,
			       std::uint32_t ordinal);
	std::uint32_t node(const Taken &lock);
	void invert(std::uint32_t cls, bool same, std::uint32_t first, std::uint32_t second);

	OrderClasses classes_;
	OrderClasses::Lookup code_;
	std::vector<std::byte> log_;
	std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;
	std::set<std::pair<std::uint32_t, std::uint32_t>> edges_;
	std::uint32_t observations_ = 0, findings_ = 0;
	Graph pairs_; ///< of instances of one class, in one life each
	std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint32_t> nodes_;
	std::vector<std::uint32_t>
		pair_observations_; ///< by edge of pairs_: the observation that added it
	std::set<std::pair<std::uint32_t, bool>> inverted_;
	std::uint64_t lost_pairs_ = 0;
	std::map<std::uint32_t, std::set<std::uint64_t>> semaphores_;
};

} // namespace lockscope
