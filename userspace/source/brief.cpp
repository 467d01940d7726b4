// SPDX-License-Identifier: GPL-2.0
// A source that opens the device for each call.
#include "source/source.h"

#include <cerrno>

namespace lockscope {

namespace {

class BriefSource final : public Source {
public:
	BriefSource(std::string path, std::uint64_t instance, bool live)
		: path_(std::move(path)), instance_(instance), live_(live)
	{
	}

	Result<ls_info> info() override
	{
		return ask<ls_info>([](Source &source) { return source.info(); });
	}
	Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) override
	{
		return ask<std::size_t>(
			[&](Source &source) { return source.read(offset, buffer); });
	}
	Result<std::vector<ls_chain>> chains(std::uint32_t from) override
	{
		return ask<std::vector<ls_chain>>(
			[&](Source &source) { return source.chains(from); });
	}
	Result<std::vector<ls_prim_info>> prims() override
	{
		return ask<std::vector<ls_prim_info>>(
			[](Source &source) { return source.prims(); });
	}
	Result<std::vector<ls_class_counts>> counts() override
	{
		return ask<std::vector<ls_class_counts>>(
			[](Source &source) { return source.counts(); });
	}
	Status control(ls_ctl_op op) override
	{
		return ask<Nothing>([&](Source &source) { return source.control(op); });
	}
	Result<std::vector<ls_wait_rec>> waits() override
	{
		return ask<std::vector<ls_wait_rec>>([](Source &source) { return source.waits(); });
	}
	std::string place(std::uint64_t ip) override
	{
		auto found = ask<std::string>(
			[&](Source &source) { return Result<std::string>(source.place(ip)); });
		return found ? *found : "?";
	}
	Result<std::optional<ls_access_info>> access_info() override
	{
		return ask<std::optional<ls_access_info>>(
			[](Source &source) { return source.access_info(); });
	}
	Result<std::vector<std::uint32_t>> access_counts() override
	{
		return ask<std::vector<std::uint32_t>>(
			[](Source &source) { return source.access_counts(); });
	}
	Status access_control(const ls_access_ctl &ctl) override
	{
		return ask<Nothing>([&](Source &source) { return source.access_control(ctl); });
	}
	Status follow(const ls_follow_req &req) override
	{
		return ask<Nothing>([&](Source &source) { return source.follow(req); });
	}
	bool live() const override { return live_; }

private:
	template <typename T, typename Question> Result<T> ask(Question question)
	{
		auto source = open_source(path_, Hold::Always);
		if (!source)
			return source.error();
		/* The offsets are invalid for another load of the module. */
		auto info = (*source)->info();
		if (!info)
			return info.error();
		if (info->instance != instance_)
			return os_error(ENODEV, "the module behind " + path_ + " was loaded anew",
					"start again to record the new one");
		return question(**source);
	}

	std::string path_;
	std::uint64_t instance_;
	bool live_;
};

} // namespace

Result<std::unique_ptr<Source>> brief_source(const std::string &path)
{
	auto source = open_source(path, Hold::Always);
	if (!source)
		return source.error();
	auto info = (*source)->info();
	if (!info)
		return info.error();
	return std::unique_ptr<Source>(
		std::make_unique<BriefSource>(path, info->instance, (*source)->live()));
}

} // namespace lockscope
