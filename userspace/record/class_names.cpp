// SPDX-License-Identifier: GPL-2.0
#include "record/class_names.h"

namespace lockscope {

namespace {

constexpr std::size_t kLogBytes = 1u << 20;

} // namespace

Status ClassNames::update(Source &source)
{
	buffer_.resize(kLogBytes);
	LogDecoder decoder;
	for (;;) {
		auto size = source.read(log_offset_, buffer_);
		if (!size)
			return size.error();
		if (*size == 0)
			return success();
		std::vector<LogRecord> records;
		log_offset_ += decoder.decode({buffer_.data(), *size}, records);
		if (decoder.broken())
			return Error{0, "the module's log is damaged: " + decoder.problem(),
				     "reload the module", Exit::Environment};
		for (const auto &record : records)
			if (const auto *cls = std::get_if<ClassRecord>(&record))
				records_[cls->id] = *cls;
	}
}

std::uint32_t ClassNames::canonical(std::uint32_t id) const
{
	auto at = records_.find(id);
	return at == records_.end() ? id : at->second.canonical;
}

ls_kind ClassNames::kind(std::uint32_t id) const
{
	auto at = records_.find(canonical(id));
	return at == records_.end() ? LS_KIND_NONE : static_cast<ls_kind>(at->second.kind);
}

ClassNames::Name ClassNames::find(std::uint32_t id)
{
	auto at = records_.find(canonical(id));
	if (at == records_.end())
		return {"class " + std::to_string(id), LS_KIND_NONE};
	Name name{at->second.name, static_cast<ls_kind>(at->second.kind)};
	/* Reading types is slow: without a session only of objects of a named cache. */
	LockField field;
	if (namer_)
		field = namer_(at->second);
	else if (at->second.origin == LS_ORIGIN_SLAB)
		field = fields_.find(at->second);
	if (!field.path.empty())
		name.name += " " + field.path;
	return name;
}

} // namespace lockscope
