// SPDX-License-Identifier: GPL-2.0
// lockscope-annotations: builds the table of a release, see scripts/annotations.
#include "annotations/builder.h"
#include "util/file.h"
#include "util/modules.h"
#include "util/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>

namespace fs = std::filesystem;
using namespace lockscope;
using namespace lockscope::annotations;

namespace {

struct Options {
	std::string release, source, onto, out;
	std::vector<std::string> files;
	bool stats = false, missing = false;
	unsigned int sample = 0, seed = 1;
};

int fail(const Error &error)
{
	std::cerr << "lockscope-annotations: " << error.what << "\nHINT: " << error.hint << '\n';
	return static_cast<int>(error.exit);
}

/// "ext4" of ".../ext4.ko"; the kernel is "vmlinux".
std::string module_of(const fs::path &path)
{
	const std::string name = module_name(path);
	return name.empty() ? "vmlinux" : name;
}

/// Of @whole, with one digit after the point, rounded down; 0 of nothing.
double percent(std::size_t part, std::size_t whole)
{
	const std::size_t tenths = whole ? part * 1000 / whole : 0;
	return static_cast<double>(tenths) / 10;
}

std::string kind_of(const Site &site, const SourceTree &source)
{
	if (source.functions()[site.function].definition.macro)
		return "in a macro's definition";
	if (!source.direct(site))
		return "functions that pass one on";
	switch (site.says) {
	case Says::Subclass:
		return "*_nested()";
	case Says::NestLock:
		return "*_nest_lock()";
	case Says::Class:
		return "lockdep_set_class*()";
	case Says::Held:
		return "lockdep_assert_held*()";
	case Says::IrqLine:
		return "disable_irq*_lockdep*()";
	}
	return "";
}

void print_stats(const SourceTree &source, const Builder &builder, const Table &table)
{
	std::map<std::string, std::array<std::size_t, kFates>> counts;
	for (std::size_t i = 0; i < source.sites().size(); i++)
		counts[kind_of(source.sites()[i], source)]
		      [static_cast<std::size_t>(builder.fate(i))]++;
	std::size_t known = 0, built = 0;
	std::cout
		<< "| annotation | sites in files built | no code | in code | in the table | subclass 0 "
		   "| no call found | ambiguous | share |\n|---|---|---|---|---|---|---|---|---|\n";
	for (const auto &entry : counts) {
		const auto &kind = entry.first;
		const auto &fates = entry.second;
		if (kind.starts_with("in a macro"))
			continue;
		std::size_t all = 0;
		for (auto n : fates)
			all += n;
		const auto at = [&](Fate fate) { return fates[static_cast<std::size_t>(fate)]; };
		const std::size_t code = all - at(Fate::CompiledOut);
		const std::size_t have = at(Fate::InTable) + at(Fate::Plain);
		known += have;
		built += code;
		std::cout << "| `" << kind << "` | " << all << " | " << at(Fate::CompiledOut)
			  << " | " << code << " | " << at(Fate::InTable) << " | " << at(Fate::Plain)
			  << " | " << at(Fate::NoCall) << " | " << at(Fate::Ambiguous) << " | "
			  << percent(have, code) << " % |\n";
	}
	std::size_t calls = 0, constant = 0, functions = 0, modules = 0;
	for (const auto &[module, of] : table.modules) {
		functions += of.in_function.size();
		modules += !of.calls.empty() || !of.in_function.empty();
		for (const auto &[place, all] : of.calls)
			for (const auto &call : all) {
				calls++;
				constant +=
					call.subclass >= 0 || table[call].says == Says::NestLock;
			}
	}
	std::cout << "\nIn all: " << known << " of " << built << ", " << percent(known, built)
		  << " %. In macros: " <<
		[&] {
			std::size_t n = 0;
			for (auto c : counts["in a macro's definition"])
				n += c;
			return n;
		}()
		  << " more, which count where they are used.\nThe table has " << calls
		  << " calls, in " << modules << " of " << table.modules.size()
		  << " modules with notes, " << constant << " of them with a constant, and "
		  << functions << " functions that say something.\n";
}

void print_site(const SourceTree &source, const Builder &builder, std::size_t i)
{
	static const char *const fates[] = {"in the table", "subclass 0", "no code",
					    "no call found", "ambiguous"};
	const Site &site = source.sites()[i];
	std::cout << source.file(site.file) << ':' << site.call.line << ' ' << site.call.callee
		  << '(';
	for (std::size_t n = 0; n < site.call.arguments.size(); n++)
		std::cout << (n ? ", " : "") << site.call.arguments[n];
	std::cout << ") in " << source.functions()[site.function].definition.name << ": "
		  << fates[static_cast<int>(builder.fate(i))];
	const auto &places = builder.places(i);
	for (std::size_t n = 0; n < places.size() && n < 3; n++)
		std::cout << "; " << places[n];
	if (places.size() > 3)
		std::cout << "; " << places.size() - 3 << " more";
	std::cout << '\n';
}

void print_sample(const SourceTree &source, const Builder &builder, const Options &options)
{
	std::vector<std::size_t> sites;
	for (std::size_t i = 0; i < source.sites().size(); i++)
		if (builder.fate(i) != Fate::CompiledOut &&
		    source.sites()[i].says <= Says::NestLock &&
		    !source.functions()[source.sites()[i].function].definition.macro)
			sites.push_back(i);
	std::mt19937 random(options.seed);
	std::shuffle(sites.begin(), sites.end(), random);
	sites.resize(std::min<std::size_t>(sites.size(), options.sample));
	for (auto i : sites)
		print_site(source, builder, i);
}

int run(const Options &options)
{
	std::set<std::string> sources;
	for (const auto &path : options.files) {
		auto binary = Binary::open(path);
		if (!binary)
			return fail(binary.error());
		for (const auto &file : binary->files()) {
			if ((file.ends_with(".c") && !file.ends_with(".mod.c")) ||
			    file.ends_with(".h"))
				sources.insert(file);
			/* Its macros leave nothing in the debug information of a module. */
			if (const auto at = file.rfind("include/linux/"); at != file.npos)
				sources.insert(file.substr(0, at) + "include/linux/lockdep.h");
		}
	}
	const SourceTree source(options.source, {sources.begin(), sources.end()});
	if (source.sites().empty())
		return fail({0,
			     options.source + ": none of the source files that the code is made of",
			     "the source of the same release is needed"});
	std::cerr << "lockscope-annotations: " << sources.size() << " source files, "
		  << source.missing() << " of them not there; " << source.sites().size()
		  << " annotations\n";
	Builder builder(source);
	if (!options.onto.empty()) {
		auto text = read_file(options.onto);
		if (!text)
			return fail(text.error());
		auto table = Table::parse(*text, options.onto);
		if (!table)
			return fail(table.error());
		builder.start(std::move(*table));
	}
	for (const auto &path : options.files) {
		auto binary = Binary::open(path);
		if (!binary)
			return fail(binary.error());
		builder.add(module_of(path), *binary);
	}
	const Table table = builder.take(options.release);
	if (!options.out.empty())
		if (auto status = write_file(options.out, table.print()); !status)
			return fail(status.error());
	if (options.stats)
		print_stats(source, builder, table);
	if (options.sample)
		print_sample(source, builder, options);
	for (std::size_t i = 0; options.missing && i < source.sites().size(); i++)
		if (builder.fate(i) >= Fate::CompiledOut &&
		    !source.functions()[source.sites()[i].function].definition.macro)
			print_site(source, builder, i);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	CLI::App app{"Makes the table of what a kernel's authors said about its locks."};
	app.add_option("--release", options.release, "kernel release")->required();
	app.add_option("--source", options.source, "the unpacked source")->required();
	app.add_option("--onto", options.onto, "a table whose other modules stay as they are");
	app.add_option("--out", options.out, "where the table goes");
	app.add_flag("--stats", options.stats,
		     "how many annotations the table has, and why not the rest");
	app.add_option("--sample", options.sample,
		       "print that many annotated acquires chosen at random");
	app.add_flag("--missing", options.missing, "print the annotations that it does not have");
	app.add_option("--seed", options.seed, "for --sample")->capture_default_str();
	app.add_option("FILE", options.files, "vmlinux and modules with debug information")
		->required();
	CLI11_PARSE(app, argc, argv);
	/* Functions of the kernel are known before modules call them. */
	std::stable_partition(options.files.begin(), options.files.end(),
			      [](const std::string &path) { return module_of(path) == "vmlinux"; });
	return run(options);
}
