// SPDX-License-Identifier: GPL-2.0
#include "cli/watch.h"

#include "util/file.h"
#include "util/text.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace lockscope::cli {

namespace {

constexpr std::uint64_t kMostBytes = 4096;

/// A whole number, decimal or hexadecimal.
std::optional<std::uint64_t> number(std::string_view text)
{
	const bool hex = text.starts_with("0x");
	if (hex)
		text.remove_prefix(2);
	std::uint64_t value = 0;
	auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
	if (error != std::errc{} || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

std::uint32_t mode_of(const std::string &accesses)
{
	return accesses == "all"       ? LS_ACCESSES_ALL
	       : accesses == "sampled" ? LS_ACCESSES_SAMPLED
				       : LS_ACCESSES_OFF;
}

Status set_mode(Source &source, std::uint32_t mode)
{
	ls_access_ctl ctl{};
	ctl.mode = 1 + mode;
	return source.access_control(ctl);
}

} // namespace

Result<FollowedVariable> parse_variable(const std::string &text)
{
	auto wrong = [&](const std::string &what) {
		return usage_error("--log-variable " + text + ": " + what,
				   "[MODULE:]SYMBOL[+offset][:bytes], as jiffies or "
				   "my_driver:stats+0x10:4");
	};
	FollowedVariable out;
	auto parts = split(text, ':');
	if (parts.size() > 1)
		if (auto bytes = number(parts.back())) {
			out.bytes = *bytes;
			parts.pop_back();
		}
	if (parts.size() > 2)
		return wrong("too many colons");
	if (parts.size() == 2)
		out.module = parts[0];
	const std::string &symbol = parts.back();
	const auto plus = symbol.find('+');
	out.symbol = symbol.substr(0, plus);
	if (plus != symbol.npos) {
		auto offset = number(std::string_view(symbol).substr(plus + 1));
		if (!offset)
			return wrong("the offset is no number");
		out.offset = *offset;
	}
	if (out.symbol.empty() || (parts.size() == 2 && out.module.empty()))
		return wrong("no symbol");
	if (out.bytes == 0 || out.bytes > kMostBytes)
		return wrong("1 to 4096 bytes can be followed");
	return out;
}

Result<std::uint64_t> find_variable(const std::string &symbols, const FollowedVariable &variable)
{
	bool hidden = false;
	/* Lines: "address type name[\t[module]]". */
	for (std::size_t at = 0; at < symbols.size();) {
		const std::size_t end = std::min(symbols.find('\n', at), symbols.size());
		const std::string_view line(symbols.data() + at, end - at);
		at = end + 1;
		const auto name_at = line.find(' ', line.find(' ') + 1);
		if (name_at == line.npos)
			continue;
		std::string_view name = line.substr(name_at + 1), module = "vmlinux";
		if (const auto tab = name.find('\t'); tab != name.npos) {
			module = name.substr(tab + 1);
			if (module.size() > 2)
				module = module.substr(1, module.size() - 2);
			name = name.substr(0, tab);
		}
		if (name != variable.symbol ||
		    (!variable.module.empty() && module != variable.module))
			continue;
		std::uint64_t address = 0;
		std::from_chars(line.data(), line.data() + line.size(), address, 16);
		if (address)
			return address + variable.offset;
		hidden = true;
	}
	if (hidden)
		return Error{0, "/proc/kallsyms hides addresses",
			     "run as root, and set kernel.kptr_restrict to 0 or 1",
			     Exit::Environment};
	return Error{0,
		     "there is no variable " + variable.symbol +
			     (variable.module.empty() ? "" : " in module " + variable.module),
		     "load its module first; grep " + variable.symbol + " /proc/kallsyms",
		     Exit::Environment};
}

Watch::Watch(Watch &&other) noexcept
	: source_(other.source_), mode_(std::exchange(other.mode_, std::nullopt)),
	  follows_(std::exchange(other.follows_, false))
{
}

Watch::~Watch()
{
	(void)end().ok();
}

Result<Watch> Watch::begin(Source &source, const WatchOptions &options)
{
	Watch watch(source);
	auto info = source.access_info();
	if (!info)
		return info.error();
	const std::uint32_t mode = mode_of(options.accesses);
	if (!*info && options.asked && mode != LS_ACCESSES_OFF)
		LS_TRY_STATUS(set_mode(source, mode));
	/* Without the option the module's present mode is kept if it is more. */
	if (*info && (options.asked ? (*info)->mode != mode : (*info)->mode < mode)) {
		LS_TRY_STATUS(set_mode(source, mode));
		watch.mode_ = (*info)->mode;
	}
	if (options.variable.empty())
		return watch;

	auto variable = parse_variable(options.variable);
	if (!variable)
		return variable.error();
	if (!source.live())
		return Error{0, "an image follows no variable", "leave --log-variable out",
			     Exit::Environment};
	auto symbols = read_file("/proc/kallsyms");
	if (!symbols)
		return symbols.error();
	auto address = find_variable(*symbols, *variable);
	if (!address)
		return address.error();
	LS_TRY_STATUS(source.follow({*address, variable->bytes}));
	watch.follows_ = true;
	return watch;
}

Status Watch::end()
{
	Status done = success();
	if (std::exchange(follows_, false))
		done = source_->follow({0, 0});
	if (auto before = std::exchange(mode_, std::nullopt)) {
		auto set = set_mode(*source_, *before);
		if (done)
			done = set;
	}
	return done;
}

} // namespace lockscope::cli
