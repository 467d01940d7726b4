// SPDX-License-Identifier: GPL-2.0
// Lock annotations of a source tree: the annotated places, and the functions and macros that
// pass an annotation on.
#pragma once

#include "annotations/scan.h"
#include "model/annotations.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope::annotations {

/// A place in the source with an annotation.
struct Site {
	std::size_t file = 0; ///< in SourceTree::file()
	std::size_t function; ///< in SourceTree::functions()
	Call call;
	Says says = Says::Subclass;
};

/// A function or macro with sites, or one that is a site.
struct Function {
	std::size_t file = 0;
	Definition definition;
	std::vector<std::size_t> sites; ///< in SourceTree::sites()
};

class SourceTree {
public:
	/// Reads @files, relative to @root; missing ones are counted and skipped.
	SourceTree(const std::string &root, const std::vector<std::string> &files);

	const std::vector<Site> &sites() const { return sites_; }
	const std::vector<Function> &functions() const { return functions_; }
	const std::string &file(std::size_t i) const { return files_[i]; }
	std::optional<std::size_t> file(const std::string &name) const;
	std::size_t missing() const { return missing_; }

	/// The function whose name is on that line, or whose body has it.
	const Function *function_at(std::size_t file, std::uint32_t line) const;
	const Function *declared_at(std::size_t file, std::uint32_t line) const;

	/// The site on that line about an acquired lock. @column 0: not known. Null if there
	/// are several and the column does not decide.
	const Site *acquire_at(std::size_t file, std::uint32_t line, std::uint32_t column) const;

	/// Does a function of that name, visible from @file, carry an annotation of its
	/// callers?
	bool carries(std::size_t file, const std::string &name) const;
	/// Names that functions in the binary with annotated calls may have.
	std::set<std::string> carriers() const;

	/// Value of @site, in terms of its function's parameters. nullopt if it calls a
	/// function with several annotations.
	std::optional<std::string> meaning(const Site &site) const;
	/// Value of an annotation in @name for its caller at @site: @text with the arguments
	/// in place of the parameters of @name. nullopt if the site does not call it.
	std::optional<std::string> in_caller(const Site &site, const std::string &name,
					     const std::string &text) const;
	/// Annotations of function @name about its own parameters: "subclass".
	std::vector<std::string> own(std::size_t file, const std::string &name) const;
	/// Does @site call a primitive, or a macro that ends in one, and not a function that
	/// passes an annotation on?
	bool direct(const Site &site) const;

	/// Value of a constant expression in @file.
	std::optional<long> evaluate(std::size_t file, const std::string &text,
				     int depth = 0) const;

private:
	struct Carrier {
		std::size_t file;   ///< where it is defined
		bool local = false; ///< visible in that file only
		bool macro = false;
		bool seed = false; ///< by its name and parameter
		std::vector<std::string> parameters;
		Says says = Says::Subclass;
		std::vector<std::string> texts; ///< annotations in terms of its parameters
		std::vector<Call> calls;	///< of a macro: its calls
	};
	bool visible(std::size_t header, std::size_t user) const;
	const Carrier *carrier(std::size_t file, const std::string &name) const;
	bool add_carriers(std::size_t file, const FileContent &content);
	bool passes_on(std::size_t file, Says says, const std::string &text,
		       const std::vector<std::string> &parameters) const;
	bool expand(std::size_t file, const Call &call, const std::string &name,
		    std::vector<std::string> &arguments, int depth = 0) const;

	std::vector<std::string> files_, texts_;
	std::size_t missing_ = 0;
	std::unordered_map<std::string, std::size_t> by_name_;
	std::unordered_map<std::string, std::vector<Carrier>> carriers_;
	std::vector<Site> sites_;
	std::vector<Function> functions_;
	std::vector<std::vector<std::size_t>> in_file_; ///< functions, by file
	struct Value {
		std::size_t file;
		Constant constant;
	};
	std::unordered_map<std::string, std::vector<Value>> constants_;
};

} // namespace lockscope::annotations
