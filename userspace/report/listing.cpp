// SPDX-License-Identifier: GPL-2.0
#include "report/listing.h"

#include "report/json_parts.h"
#include "util/printable.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lockscope {

namespace {

constexpr const char *kReport = "lockscope-report/1", *kBaseline = "lockscope-baseline/1";
constexpr const char *kAgain =
	"write it again: lockscope report --format json -o FILE STORE, or lockscope diff "
	"--write-baseline FILE STORE";

/* Those of reports nest 16 deep, with the evidence of a verdict. */
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestKind = 64;

std::string one_line(std::string text)
{
	std::replace(text.begin(), text.end(), '\n', '?');
	return printable(std::move(text));
}

/* Kinds of a newer version are not known here. */
bool could_be_kind(const std::string &text)
{
	return !text.empty() && text.size() <= kLongestKind &&
	       std::all_of(text.begin(), text.end(),
			   [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

std::optional<VerdictResult> parse_verdict(const std::string &text)
{
	for (auto result :
	     {VerdictResult::Confirmed, VerdictResult::Refuted, VerdictResult::NotReached})
		if (text == name(result))
			return result;
	return std::nullopt;
}

/// Takes what is needed out of a report as it is read; a member is known by its path.
class Reader final : public nlohmann::json_sax<Json> {
public:
	explicit Reader(std::string file) { listing_.file = std::move(file); }

	Result<Listing> finish(bool parsed)
	{
		const std::string &file = listing_.file;
		if (wrong_.empty() && parsed && schema_.empty())
			return Error{0, file + " is no report of LockScope", kAgain,
				     Exit::Environment};
		if (!schema_.empty() && schema_ != kReport && schema_ != kBaseline)
			return Error{0,
				     file + " has format " + schema_ + ", this program reads " +
					     kReport + " and " + kBaseline,
				     "use the lockscope that wrote it, or a newer one",
				     Exit::Environment};
		if (wrong_.empty() && parsed && !findings_)
			wrong_ = "it has no list of findings";
		if (!wrong_.empty() || !parsed)
			return Error{0, file + " is damaged: " + wrong_, kAgain, Exit::Environment};
		listing_.form = schema_ == kBaseline ? "baseline" : "report";
		return std::move(listing_);
	}

	bool null() override { return true; }
	bool binary(binary_t &) override { return true; }
	bool number_integer(number_integer_t) override { return true; }
	bool number_float(number_float_t, const string_t &) override { return true; }

	bool boolean(bool value) override
	{
		if (at({"findings", "[]", "filters", "[]", "hidden"}))
			filter_hides_ = value;
		return true;
	}

	bool number_unsigned(number_unsigned_t value) override
	{
		if (at({"runs"}))
			listing_.runs = value;
		else if (at({"coverage", "acquisitions"}))
			listing_.acquisitions = value;
		else if (at({"left_out", "selection"}) || at({"left_out", "confidence"}) ||
			 at({"left_out", "limit"}))
			listing_.left_out += value;
		return true;
	}

	bool string(string_t &value) override
	{
		if (at({"schema"}))
			schema_ = one_line(value);
		else if (at({"kernel", "release"}))
			listing_.release = one_line(value);
		else if (at({"incomplete", "[]", "text"}))
			listing_.incomplete.push_back(one_line(value));
		else if (path_.size() > 2 && path_[0] == "findings" && path_[1] == "[]")
			return member(value);
		return true;
	}

	bool start_object(std::size_t) override
	{
		if (at({"findings", "[]"}))
			begin();
		else if (at({"findings", "[]", "filters", "[]"}))
			filter_hides_ = false;
		return push("");
	}

	bool key(string_t &value) override
	{
		path_.back() = value;
		return true;
	}

	bool end_object() override
	{
		path_.pop_back();
		if (at({"findings", "[]"}))
			return add();
		if (at({"findings", "[]", "classes", "[]"}))
			add_class();
		else if (at({"findings", "[]", "filters", "[]"}) && filter_hides_ &&
			 entry_.hidden.empty())
			entry_.hidden = filter_.empty() ? "hidden" : filter_;
		return true;
	}

	bool start_array(std::size_t) override
	{
		if (at({"findings"}))
			findings_ = true;
		return push("[]");
	}

	bool end_array() override
	{
		path_.pop_back();
		return true;
	}

	bool parse_error(std::size_t position, const std::string &,
			 const nlohmann::detail::exception &) override
	{
		wrong_ = "no JSON from byte " + std::to_string(position) + " on";
		return false;
	}

private:
	bool at(std::initializer_list<const char *> path) const
	{
		return path_.size() == path.size() &&
		       std::equal(path_.begin(), path_.end(), path.begin());
	}

	bool push(const char *step)
	{
		if (path_.size() == kDeepest)
			return fail("it nests more than " + std::to_string(kDeepest) + " deep");
		path_.emplace_back(step);
		return true;
	}

	bool fail(std::string what)
	{
		wrong_ = std::move(what);
		return false;
	}

	void begin()
	{
		entry_ = {};
		severity_.clear();
		unrefuted_.clear();
		confidence_.clear();
		class_.clear();
		class_kind_.clear();
		filter_.clear();
		nr_++;
	}

	/// A text somewhere below findings[].
	bool member(const std::string &value)
	{
		const auto &name = path_.back();
		if (path_.size() == 3) {
			if (name == "id")
				entry_.id = value;
			else if (name == "kind")
				entry_.kind = value;
			else if (name == "severity")
				severity_ = value;
			else if (name == "unrefuted")
				unrefuted_ = value;
			else if (name == "confidence")
				confidence_ = value;
			else if (name == "title")
				entry_.title = one_line(value);
		} else if (at({"findings", "[]", "classes", "[]", "name"})) {
			class_ = one_line(value);
		} else if (at({"findings", "[]", "classes", "[]", "kind"})) {
			class_kind_ = value;
		} else if (at({"findings", "[]", "variable", "name"})) {
			entry_.variable = comparable_name(one_line(value));
		} else if (at({"findings", "[]", "verdict", "result"})) {
			entry_.verdict = parse_verdict(value);
		} else if (at({"findings", "[]", "filters", "[]", "name"})) {
			if (entry_.hidden.empty())
				filter_ = one_line(value);
		}
		return true;
	}

	void add_class()
	{
		if (!class_.empty() && class_kind_ != kind_name(kInterruptKind))
			entry_.locks.push_back(comparable_name(class_));
		class_.clear();
		class_kind_.clear();
	}

	bool add()
	{
		const auto severity = parse_severity(severity_);
		entry_.unrefuted = parse_severity(unrefuted_);
		const auto confidence = parse_confidence(confidence_);
		const std::string which = "finding " + std::to_string(nr_) + " has no ";
		if (!is_finding_id(entry_.id))
			return fail(which + "id of 16 hex digits");
		if (!could_be_kind(entry_.kind))
			return fail(which + "kind");
		if (!severity)
			return fail(which + "severity");
		if (!unrefuted_.empty() && !entry_.unrefuted)
			return fail("finding " + std::to_string(nr_) + " has an unknown severity");
		if (!confidence)
			return fail(which + "confidence");
		entry_.severity = *severity;
		entry_.confidence = *confidence;
		listing_.add(std::move(entry_));
		return true;
	}

	Listing listing_;
	Entry entry_;
	std::size_t nr_ = 0;
	std::string severity_, unrefuted_, confidence_, class_, class_kind_, filter_, schema_,
		wrong_;
	bool filter_hides_ = false, findings_ = false;
	std::vector<std::string> path_; ///< keys down to the present value, "[]" for arrays
};

Json entry_json(const Entry &entry)
{
	Json out = {{"id", entry.id},
		    {"kind", entry.kind},
		    {"severity", name(entry.severity)},
		    {"confidence", name(entry.confidence)},
		    {"title", entry.title}};
	if (entry.unrefuted)
		out["unrefuted"] = name(*entry.unrefuted);
	if (!entry.locks.empty())
		out["classes"] = Json::array();
	for (const auto &lock : entry.locks)
		out["classes"].push_back({{"name", lock}});
	if (!entry.variable.empty())
		out["variable"] = {{"name", entry.variable}};
	if (entry.verdict)
		out["verdict"] = {{"result", name(*entry.verdict)}};
	return out;
}

std::string on_one_line(const Json &json)
{
	return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

Result<Listing> read_listing(std::istream &in, const std::string &file)
{
	if ((in >> std::ws).peek() != '{')
		return Error{0, file + " is neither a store nor a report of LockScope",
			     "give a store, a report of --format json or a baseline",
			     Exit::Environment};
	Reader reader(file);
	return reader.finish(Json::sax_parse(in, &reader));
}

std::string baseline_of(const Listing &listing)
{
	std::vector<const Entry *> shown;
	for (const auto &entry : listing.entries())
		if (entry.hidden.empty())
			shown.push_back(&entry);
	std::sort(shown.begin(), shown.end(),
		  [](const Entry *a, const Entry *b) { return a->id < b->id; });
	Json incomplete = Json::array();
	for (const auto &why : listing.incomplete)
		incomplete.push_back({{"text", why}});
	const Json members[][2] = {
		{"schema", kBaseline},
		{"kernel", {{"release", listing.release}}},
		{"runs", listing.runs},
		{"coverage", {{"acquisitions", listing.acquisitions}}},
		{"incomplete", std::move(incomplete)},
		{"left_out", {{"selection", listing.left_out}}},
	};
	std::string out = "{\n";
	for (const auto &member : members)
		out += on_one_line(member[0]) + ": " + on_one_line(member[1]) + ",\n";
	out += "\"findings\": [";
	for (std::size_t i = 0; i < shown.size(); i++)
		out += (i ? ",\n" : "\n") + on_one_line(entry_json(*shown[i]));
	return out + "\n]\n}\n";
}

} // namespace lockscope
