// SPDX-License-Identifier: GPL-2.0
// Suppressions of known findings, in the file /etc/lockscope/suppressions: one entry per line
// of key=value, values with blanks in double quotes, # comments.
//
//   id=0123456789abcdef reason="vendor knows" until=2027-01-31
//   kind=irq-inversion class="ext4:*" reason="only in the test module"
//
// reason is mandatory, the rest is the target: an id, or a kind, a class or both.
#pragma once

#include "analysis/finding.h"
#include "util/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope {

struct Suppression {
	std::string id = {};		      ///< 16 hex digits; empty: by kind and class
	std::optional<FindingKind> kind = {}; ///< nullopt: any
	/// Glob for a class of the finding, or for its variable; empty: any.
	std::string cls = {};
	std::string reason = {};
	std::string until = {}; ///< last day, YYYY-MM-DD; empty: for good
	std::size_t line = 0;	///< in its file

	/// Do both have the same target?
	bool same_target(const Suppression &other) const
	{
		return id == other.id && kind == other.kind && cls == other.cls;
	}
};

/// Use of the entries of a file.
struct SuppressionReport {
	std::size_t used = 0;		  ///< entries that hid something
	std::vector<Suppression> unused;  ///< those that match no finding
	std::vector<Suppression> expired; ///< those after their last day
	bool any() const { return used || !unused.empty() || !expired.empty(); }
};

struct Analysis;

/// All entries of @text. Errors begin with "@name:LINE: ".
Result<std::vector<Suppression>> parse_suppressions(std::string_view text, const std::string &name);

/// An error unless @entry is valid in a file.
Status check_suppression(const Suppression &entry);
/// The line of @entry in a file, without its newline.
std::string format_suppression(const Suppression &entry);
/// The target as text: "id 0123456789abcdef", "irq-inversion of ext4:*".
std::string describe(const Suppression &entry);

/// Hide the targets of @entries: filter "suppressed", with the reason. Entries whose last day
/// is before @day hide nothing. Findings are ranked again.
void apply_suppressions(const Model &model, Analysis &analysis,
			const std::vector<Suppression> &entries, const std::string &day);

} // namespace lockscope
