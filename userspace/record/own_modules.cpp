// SPDX-License-Identifier: GPL-2.0
#include "record/own_modules.h"

#include "decode/lock_sites.h"
#include "symbolize/debug_files.h"
#include "util/modules.h"

#include <algorithm>
#include <filesystem>

namespace lockscope {

namespace {

constexpr const char *kLockScope = "lockscope";
/* A call with a displacement of 32 bits. */
constexpr std::uint64_t kCallLength = 5;

std::string with_underscores(std::string name)
{
	std::replace(name.begin(), name.end(), '-', '_');
	return name;
}

} // namespace

OwnModules::OwnModules(const std::vector<std::string> &named, const std::string &booted)
{
	for (const auto &word : named) {
		const auto name = module_name(word);
		add(name.empty() ? with_underscores(word) : name, name.empty() ? "" : word);
	}
	std::error_code error;
	if (named.empty())
		for (const auto &entry : std::filesystem::directory_iterator(booted, error))
			add(module_name(entry.path()), entry.path());
	std::sort(modules_.begin(), modules_.end(),
		  [](const OwnModule &a, const OwnModule &b) { return a.name < b.name; });
}

void OwnModules::add(const std::string &name, const std::string &path)
{
	if (name.empty() || name == kLockScope ||
	    std::any_of(modules_.begin(), modules_.end(),
			[&](const OwnModule &known) { return known.name == name; }))
		return;
	OwnModule module;
	module.name = name;
	/* That of the loaded one counts, once there is one. */
	if (!path.empty())
		module.build_id = elf_build_id(path);
	modules_.push_back(std::move(module));
}

/* What is not known yet. */
void OwnModules::read(LineFinder &finder, SymbolSource &symbols)
{
	for (auto &module : modules_) {
		if (module.decoded)
			continue;
		if (auto id = symbols.build_id(module.name); !id.empty())
			module.build_id = std::move(id);
		const auto path = finder.file(module.name, module.build_id);
		auto sites =
			path.empty() ? Result<std::vector<LockSite>>(Error{}) : lock_sites(path);
		if (!sites)
			continue;
		module.decoded = true;
		module.instrumented = is_instrumented(path);
		for (auto &found : *sites) {
			OwnSite site;
			site.place = {
				found.function, found.offset, module.name, module.build_id, {}};
			site.primitive = found.primitive;
			site.start = found.start;
			module.sites.push_back(std::move(site));
		}
	}
}

void OwnModules::begin(LineFinder &finder, SymbolSource &symbols, bool watch)
{
	read(finder, symbols);
	if (!watch)
		return;
	std::vector<CodePlace> places;
	for (std::size_t i = 0; i < modules_.size(); i++)
		for (std::size_t j = 0; j < modules_[i].sites.size(); j++) {
			const auto &site = modules_[i].sites[j];
			/* That code is gone by now. */
			if (site.start || site.place.offset < kCallLength)
				continue;
			counted_.emplace_back(i, j);
			places.push_back({modules_[i].name, site.place.function,
					  site.place.offset - kCallLength});
		}
	counter_.begin(places);
}

void OwnModules::end(LineFinder &finder, SymbolSource &symbols)
{
	counter_.end();
	ended_ = true;
	read(finder, symbols);
}

std::vector<OwnModule> OwnModules::result() const
{
	auto out = modules_;
	for (std::size_t i = 0; i < counted_.size(); i++)
		if (ended_ && counter_.watched(i))
			out[counted_[i].first].sites[counted_[i].second].reached = counter_.hit(i);
	return out;
}

} // namespace lockscope
