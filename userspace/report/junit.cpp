// SPDX-License-Identifier: GPL-2.0
// Test cases as JUnit's XML.
#include "report/ci.h"

#include <pugixml.hpp>

#include <sstream>

namespace lockscope {

namespace {

void add_case(pugi::xml_node suite, const CiCase &test)
{
	auto node = suite.append_child("testcase");
	node.append_attribute("classname") = ("lockscope." + test.group).c_str();
	node.append_attribute("name") = test.name.c_str();
	node.append_attribute("time") = "0";
	if (test.outcome == CiCase::Outcome::Failed) {
		auto failure = node.append_child("failure");
		failure.append_attribute("type") = test.group.c_str();
		failure.append_attribute("message") = test.why.c_str();
		failure.text() = test.details.c_str();
		return;
	}
	if (test.outcome == CiCase::Outcome::Skipped)
		node.append_child("skipped").append_attribute("message") = test.why.c_str();
	if (!test.details.empty())
		node.append_child("system-out").text() = test.details.c_str();
}

} // namespace

std::string junit_report(const Model &model, const Analysis &analysis, const CiOptions &options)
{
	const auto cases = ci_cases(model, analysis, options);
	std::size_t failed = 0, skipped = 0;
	for (const auto &test : cases) {
		failed += test.outcome == CiCase::Outcome::Failed;
		skipped += test.outcome == CiCase::Outcome::Skipped;
	}
	pugi::xml_document document;
	auto declaration = document.append_child(pugi::node_declaration);
	declaration.append_attribute("version") = "1.0";
	declaration.append_attribute("encoding") = "UTF-8";
	auto suite = document.append_child("testsuites").append_child("testsuite");
	suite.append_attribute("name") = "lockscope";
	suite.append_attribute("tests") = cases.size();
	suite.append_attribute("failures") = failed;
	suite.append_attribute("errors") = 0;
	suite.append_attribute("skipped") = skipped;
	suite.append_attribute("time") = "0";
	auto properties = suite.append_child("properties");
	for (const auto &[key, value] : ci_properties(model)) {
		auto property = properties.append_child("property");
		property.append_attribute("name") = key.c_str();
		property.append_attribute("value") = value.c_str();
	}
	for (const auto &test : cases)
		add_case(suite, test);
	std::ostringstream out;
	document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
	return out.str();
}

} // namespace lockscope
