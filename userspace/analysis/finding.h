// SPDX-License-Identifier: GPL-2.0
// A fault as it is reported.
#pragma once

#include "analysis/context.h"
#include "analysis/model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

enum class Severity { Note, Warning, Error };
enum class Confidence { Possible, Observed, Confirmed };
enum class FindingKind { LockOrderCycle, RecursiveLock };

const char *name(Severity severity);
const char *name(Confidence confidence);
const char *name(FindingKind kind);
std::optional<Severity> parse_severity(const std::string &text);
std::optional<Confidence> parse_confidence(const std::string &text);

/// One part of the rank; see rank.cpp.
struct Feature {
	std::string name;
	double points = 0;
	std::string why;
};

/// One reason to doubt a finding; see filters.cpp. It demotes the finding, or
/// hides it when the reason is a proof.
struct Filter {
	std::string name;
	bool hidden = false;
	std::string why;
};

/// One sight that shows an edge: held[position] held while acquiring.
struct Witness {
	std::size_t sight;	///< in Model::sights
	std::uint32_t position; ///< in Sight::held
	Context context;
};

/// A dependency of a finding with the sight chosen to show it.
struct FindingEdge {
	ClassId from = kNoClass, to = kNoClass;
	std::uint32_t kind = 0;			  ///< one LS_DEP_* bit
	std::uint64_t count = 0;		  ///< acquisitions of `to` under `from`, 0 unknown
	std::vector<Witness> witnesses;		  ///< all sights; the chosen one first
	std::vector<CodeId> from_stack, to_stack; ///< innermost first; [0] is the acquire
	std::optional<std::uint32_t> depth;	  ///< calls between the two acquires

	const Witness &shown() const { return witnesses.front(); }
};

struct Finding {
	std::string id; ///< 16 hex digits
	FindingKind kind = FindingKind::LockOrderCycle;
	Severity severity = Severity::Error;
	Confidence confidence = Confidence::Possible;
	double score = 0;
	std::string title;
	std::vector<ClassId> classes; ///< edge i leads from class i to class i + 1 (the last to 0)
	std::vector<FindingEdge> edges;
	std::vector<Feature> features;
	std::vector<Filter> filters;

	bool hidden() const;
};

} // namespace lockscope
