// SPDX-License-Identifier: GPL-2.0
#include "source/order_classes.h"

#include "model/model.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace lockscope {

namespace {

constexpr std::uint64_t kStartKernel = 0xffffffff80000000ull;

std::string with_offset(const std::string &name, std::uint64_t offset)
{
	if (offset == 0)
		return name;
	char text[24];
	std::snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(offset));
	return name + text;
}

std::string name_of(const ls_order_ident &ident)
{
	return std::string(ident.name, strnlen(ident.name, sizeof(ident.name)));
}

/* Function name without compiler suffixes. */
std::string plain(const std::string &name)
{
	const auto dot = name.find('.', 1);
	return name.substr(0, name.front() == '.' ? name.npos : dot);
}

} // namespace

std::uint32_t OrderClasses::named(ls_kind kind, ls_origin origin, std::string name,
				  std::string module, std::uint32_t offset,
				  std::uint32_t object_size)
{
	name.resize(std::min<std::size_t>(name.size(), LS_NAME_MAX - 1));
	auto [at, added] = by_name_.try_emplace({name, module, kind}, nr_ + 1);
	if (!added)
		return at->second;
	if (nr_ == LS_VAL_CLASS_MASK) {
		by_name_.erase(at);
		return 0;
	}
	nr_++;
	new_.push_back({nr_, nr_, static_cast<std::uint8_t>(kind),
			static_cast<std::uint8_t>(origin), offset, object_size, std::move(module),
			std::move(name)});
	return nr_;
}

/* Sites that acquired a lock at one address are one class; but memory is reused, so a site
 * that has a class keeps it. */
std::uint32_t OrderClasses::by_site(const ls_order_lock &lock, ls_kind kind)
{
	auto site = by_site_.find({lock.ip, kind});
	auto address = by_address_.find({lock.lock, kind});
	if (address != by_address_.end() &&
	    (site == by_site_.end() || site->second == address->second)) {
		by_site_[{lock.ip, kind}] = address->second;
		return address->second;
	}
	std::uint32_t id;
	if (site != by_site_.end()) {
		id = site->second;
	} else {
		auto function = code_(lock.ip);
		id = named(kind, LS_ORIGIN_SITE,
			   "lock taken in " + (function ? plain(function->name) : "?"),
			   function ? function->module : "vmlinux");
		by_site_[{lock.ip, kind}] = id;
	}
	by_address_[{lock.lock, kind}] = id;
	return id;
}

std::uint32_t OrderClasses::find(const ls_order_lock &lock, const ls_order_ident &ident)
{
	const auto kind = static_cast<ls_kind>(lock.val & LS_VAL_CLASS_MASK);
	if (kind >= LS_NR_KINDS)
		return 0;
	auto at = offsets_.find(kind);
	const std::uint32_t more = at == offsets_.end() ? 0 : at->second;
	if (lock.lock >= kStartKernel) {
		auto symbol = data_(lock.lock + more);
		if (!symbol)
			return by_site(lock, kind);
		return named(kind, LS_ORIGIN_STATIC,
			     with_offset((symbol->module == "vmlinux" ? "" : symbol->module + ":") +
						 symbol->name,
					 symbol->offset),
			     symbol->module);
	}
	if (ident.sort == LS_ORDER_SLAB)
		return named(kind, LS_ORIGIN_SLAB,
			     with_offset(name_of(ident) + (ident.offset + more ? "" : "+0x0"),
					 ident.offset + more),
			     "vmlinux", ident.offset + more, ident.object_size);
	if (ident.sort == LS_ORDER_INIT) {
		auto function = code_(ident.ip);
		const std::string name = function ? plain(function->name) : "?";
		/* Some initialisers have no name argument: use their place in the function. */
		return named(kind, LS_ORIGIN_INIT,
			     ident.name[0] != 0
				     ? name_of(ident) + " @ " + name
				     : std::string(kind_name(kind)) + " of " +
					       with_offset(name, function ? function->offset : 0),
			     function ? function->module : "vmlinux");
	}
	return by_site(lock, kind);
}

std::vector<ClassRecord> OrderClasses::take_new()
{
	return std::exchange(new_, {});
}

} // namespace lockscope
