// SPDX-License-Identifier: GPL-2.0
#include "config/config.h"

#include "util/file.h"
#include "util/text.h"
#include "util/utf8.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>

namespace lockscope {

namespace {

/* Each program reads its own, and knows the others by name. */
constexpr std::array kSections{"record", "report", "lockscoped"};
constexpr std::size_t kMostBytes = 1 << 20;

using Strings = std::vector<std::string>;

/// The section that is read, for errors.
struct Place {
	std::string path, section;
};

Error error_at(const std::string &path, const toml::source_region &where, const std::string &what,
	       const std::string &hint)
{
	/* The parser quotes what it met, which may be anything. */
	return usage_error(path + ":" + std::to_string(where.begin.line) + ": " + plain_line(what),
			   hint);
}

/// May a file set it?
bool settable(const CLI::App &command, const CLI::Option &option)
{
	return option.get_configurable() && !option.get_lnames().empty() &&
	       &option != command.get_help_ptr() && &option != command.get_version_ptr();
}

std::vector<CLI::Option *> settable_options(CLI::App &command)
{
	return command.get_options([&](CLI::Option *option) { return settable(command, *option); });
}

CLI::Option *find_option(CLI::App &command, std::string_view key)
{
	for (CLI::Option *option : settable_options(command)) {
		const auto &names = option->get_lnames();
		if (std::find(names.begin(), names.end(), key) != names.end())
			return option;
	}
	return nullptr;
}

std::string known_keys(CLI::App &command)
{
	Strings names;
	for (const CLI::Option *option : settable_options(command))
		names.push_back(option->get_lnames().front());
	return join(names, ", ");
}

bool is_number(const CLI::Option &option)
{
	const std::string type = option.get_type_name();
	return type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
}

/// What the file may say there.
std::string wanted_type(const CLI::Option &option)
{
	if (option.get_items_expected_max() == 0)
		return "true or false";
	if (is_number(option))
		return "a number";
	return option.get_items_expected_max() > 1 ? "a string, or an array of strings"
						   : "a string";
}

bool printable_text(const std::string &text)
{
	return std::all_of(text.begin(), text.end(), [](char c) {
		return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
	});
}

/// Append what @node says, as the command line would; false when it is of another type.
bool append_value(const toml::node &node, const CLI::Option &option, Strings &out)
{
	if (option.get_items_expected_max() == 0) {
		const auto set = node.value_exact<bool>();
		if (set && *set)
			out.push_back("true");
		return set.has_value();
	}
	if (is_number(option)) {
		if (const auto whole = node.value_exact<std::int64_t>())
			out.push_back(std::to_string(*whole));
		else if (const auto fraction = node.value_exact<double>())
			out.push_back(std::to_string(*fraction));
		else
			return false;
		return true;
	}
	if (const auto text = node.value_exact<std::string>();
	    text && !text->empty() && printable_text(*text)) {
		out.push_back(*text);
		return true;
	}
	const auto *array = option.get_items_expected_max() > 1 ? node.as_array() : nullptr;
	return array && std::all_of(array->begin(), array->end(), [&](const toml::node &element) {
		       return element.is_string() && append_value(element, option, out);
	       });
}

/// What the option's own checks say against a value; empty: nothing. They may change it.
std::string objection(CLI::Option &option, std::string value)
{
	for (int i = 0;; i++) {
		const CLI::Validator *check = nullptr;
		try {
			check = option.get_validator(i);
		} catch (const CLI::OptionNotFound &) {
			return {};
		}
		if (auto said = (*check)(value); !said.empty())
			return said;
	}
}

/// Was it, or what excludes it, on the command line?
bool decided(const CLI::Option &option)
{
	if (option.count() > 0)
		return true;
	const auto others = option.get_excludes();
	return std::any_of(others.begin(), others.end(),
			   [](const CLI::Option *other) { return other->count() > 0; });
}

/// A value that passed, and the option it is for.
struct Setting {
	CLI::Option *option;
	Strings values;
	toml::source_region where;
};

Result<Setting> read_setting(CLI::App &command, const Place &place, const toml::key &key,
			     const toml::node &node)
{
	const std::string name(key.str());
	CLI::Option *option = find_option(command, name);
	if (!option)
		return error_at(place.path, key.source(),
				"there is no key " +
					(printable_text(name) ? name : "of that name") + " in [" +
					place.section + "]",
				"keys are " + known_keys(command) + "; see lockscope.toml(5)");
	Setting out{option, {}, node.source()};
	if (!append_value(node, *option, out.values))
		return error_at(place.path, node.source(), name + " is not " + wanted_type(*option),
				"see lockscope.toml(5)");
	for (const auto &value : out.values)
		if (const auto said = objection(*option, value); !said.empty())
			return error_at(place.path, node.source(), name + ": " + said,
					"see lockscope.toml(5)");
	return out;
}

Status apply(const Setting &setting, const Place &place)
{
	if (setting.values.empty() || decided(*setting.option))
		return success();
	try {
		for (const auto &value : setting.values)
			setting.option->add_result(value);
		setting.option->run_callback();
	} catch (const CLI::ParseError &e) {
		return error_at(place.path, setting.where, e.what(), "see lockscope.toml(5)");
	}
	return success();
}

Status apply_section(CLI::App &command, const Place &place, const toml::table &table)
{
	std::vector<Setting> settings;
	for (const auto &[key, node] : table) {
		auto setting = read_setting(command, place, key, node);
		if (!setting)
			return setting.error();
		settings.push_back(std::move(*setting));
	}
	/* All of it was looked at before anything is set. */
	for (const auto &setting : settings)
		LS_TRY_STATUS(apply(setting, place));
	return success();
}

} // namespace

std::shared_ptr<std::string> add_config_option(CLI::App &command)
{
	auto path = std::make_shared<std::string>();
	command.add_option_function<std::string>(
		       "--config", [path](const std::string &text) { *path = text; },
		       std::string("values of options, see lockscope.toml(5) (default ") +
			       kConfigPath + " if it exists)")
		->configurable(false);
	return path;
}

Status configure(CLI::App &command, const std::string &section, const std::string &given)
{
	const Place place{given.empty() ? kConfigPath : given, section};
	if (given.empty() && !exists(place.path))
		return success();
	auto text = read_file(place.path);
	if (!text) {
		Error error = text.error();
		error.hint = "name another file with --config";
		return error;
	}
	if (text->size() > kMostBytes)
		return usage_error(place.path + " is larger than a configuration may be, 1 MiB",
				   "name another file with --config");
	toml::table table;
	try {
		table = toml::parse(*text, place.path);
	} catch (const toml::parse_error &e) {
		return error_at(place.path, e.source(), std::string(e.description()),
				"see lockscope.toml(5)");
	}
	for (const auto &[key, node] : table) {
		const std::string_view name = key.str();
		const Strings known(kSections.begin(), kSections.end());
		if (std::find(known.begin(), known.end(), name) == known.end() || !node.is_table())
			return error_at(
				place.path, key.source(),
				(printable_text(std::string(name)) ? std::string(name) : "a name") +
					" is no section",
				"sections are [" + join(known, "], [") + "]");
		if (name == section)
			LS_TRY_STATUS(apply_section(command, place, *node.as_table()));
	}
	return success();
}

} // namespace lockscope
