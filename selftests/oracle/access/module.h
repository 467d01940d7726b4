// SPDX-License-Identifier: GPL-2.0
// What kmod/check/access/ and kmod/out/races/ do with the core, for programs
// one after the other, and the log that comes of it.
#pragma once

#include "program.h"
#include "selftests/unit/lockclass/locksets.h"
#include "source/source.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope::access_oracle {

/// What the judge of an access said, and what the shadow remembered before.
struct Judged {
	int step = 0, granule = 0; ///< the granule of its word
	std::vector<std::set<int>> others; ///< of each race: steps that its other side is
	std::set<int> remembered;	   ///< steps that the granule had entries of
};

class Module {
public:
	Module();

	/// Run program number @index of a session at its own place @salt.
	std::vector<Judged> run(const Program &program, std::uint32_t index, std::uint64_t salt);
	/// What the device offers in the end; nothing may follow.
	Image finish();
	std::uint64_t losses = 0;

private:
	static constexpr std::uint32_t kSites = LS_SHADOW_MAX_SITE + 1;
	static constexpr int kCpus = 2;

	/// A granule's shadow, and which steps its entries are of.
	struct Shadow {
		ls_granule granule{};
		std::array<std::set<int>, LS_SHADOW_ENTRIES> steps;
	};
	/// One access that is judged, as struct ls_now.
	struct Now {
		int step = 0, word = 0;
		const Place *place = nullptr;
		std::uint64_t addr = 0, ip = 0;
		std::uint32_t context = 0, where = 0, lockset = 0, site = 0, level = 0;
		ls_way way{};
		const ls_order *order = nullptr;
	};
	void step(const Step &step, int number);
	void access(const Step &step, int number);
	void judge(Now &n);
	void tell(const Now &n, const Shadow &shadow, std::uint32_t other, std::uint32_t context);
	std::uint32_t site(Now &n);
	std::uint32_t context_of(int context) const;
	std::uint32_t pid_of(int context) const;
	std::uint64_t address(int word) const;
	std::uint64_t lock_address(int lock) const;
	std::uint64_t object_address(int object) const;
	std::uint64_t thing(Do what, int number) const;
	std::uint64_t ip(int function, int place);
	std::uint32_t data_of(int word, std::uint32_t *offset);
	std::uint32_t class_of(int lock);
	std::uint32_t stack(std::uint64_t ip);
	template <typename Raw> void put(Raw record, ls_rec_type type, const void *tail, std::size_t bytes);

	test::Locksets sets_;
	test::Zeroed reported_memory_, ops_;
	std::unique_ptr<ls_order> order_;
	ls_tagtab reported_{};
	std::uint32_t clock_ = 0;
	std::array<std::array<ls_same, 1 << LS_SAME_BITS>, kCpus> same_{};
	std::array<std::uint64_t, kCpus> left_{};
	std::unordered_map<std::uint64_t, Shadow> shadow_; ///< by address / 8
	std::set<std::pair<std::uint32_t, std::uint32_t>> reported_sites_;

	const Program *program_ = nullptr;
	std::unique_ptr<Machine> machine_;
	std::uint32_t index_ = 0;
	std::uint64_t salt_ = 0;
	std::vector<std::map<int, std::uint64_t>> taken_at_; ///< of each context, by lock
	std::vector<std::vector<int>> order_taken_;	      ///< the locks, oldest first
	std::vector<Judged> judged_;

	Image image_;
	std::map<std::vector<std::uint64_t>, std::uint32_t> sites_;
	std::vector<ls_rec_access> accesses_;
	std::map<std::string, std::uint32_t> data_, classes_;
	std::map<std::pair<int, int>, std::uint64_t> functions_; ///< of program and function
	std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> symbols_;
	std::map<std::uint64_t, std::uint32_t> stacks_;
	std::uint32_t findings_ = 0;
};

} // namespace lockscope::access_oracle
