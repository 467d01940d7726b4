// SPDX-License-Identifier: GPL-2.0
// Where records come from. The recorder knows only this interface; the device
// of the module and saved images implement it.
#pragma once

#include "lockclass/abi.h"
#include "util/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockscope {

class Source {
public:
	virtual ~Source() = default;

	/// Counters, losses and sizes of this moment.
	virtual Result<ls_info> info() = 0;
	/// Whole records from byte @offset on; 0 at the end of the log.
	virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) = 0;
	/// Chains @from (>= 1) to the newest; the element i is chain from + i.
	virtual Result<std::vector<ls_chain>> chains(std::uint32_t from) = 0;
	/// The lock functions and how each is watched.
	virtual Result<std::vector<ls_prim_info>> prims() = 0;
	/// What was counted of classes; nothing from a module that does not know.
	virtual Result<std::vector<ls_class_counts>> counts() = 0;
	virtual Status control(ls_ctl_op op) = 0;
	/// Tasks that wait for locks at this moment. ENOTTY from a module that does
	/// not tell (before ABI 2.4).
	virtual Result<std::vector<ls_wait_rec>> waits();
	/// "function+0x12 [module]" of a code address of this moment, "?" for none.
	/// Faster for a few than reading /proc/kallsyms.
	virtual std::string place(std::uint64_t) { return "?"; }

	/// What became of memory accesses; nothing from a module that does not
	/// watch them (ABI minor 0).
	virtual Result<std::optional<ls_access_info>> access_info()
	{
		return std::optional<ls_access_info>{};
	}
	/// How often each way of accessing was seen; the element i is that of
	/// LS_REC_ACCESS i + 1.
	virtual Result<std::vector<std::uint32_t>> access_counts()
	{
		return std::vector<std::uint32_t>{};
	}
	/// Change how accesses are watched, or which granules are followed. Errors:
	/// ENOTTY from a module that does not watch them.
	virtual Status access_control(const ls_access_ctl &) { return no_accesses(); }
	virtual Status follow(const ls_follow_req &) { return no_accesses(); }
	/// Replace the probes on accesses of unmodified code; errors of each site are
	/// filled in. They stay for as long as this source is open.
	virtual Status probe(std::vector<ls_site> &) { return no_accesses(); }
	/// Hits of each of these probes, @n of them, since it was put there.
	virtual Result<std::vector<std::uint32_t>> probe_hits(std::size_t)
	{
		return no_accesses().error();
	}

	/// The addresses belong to the running kernel, so its symbol table may
	/// be asked about them.
	virtual bool live() const = 0;
	/// What a store calls this source.
	virtual const char *backend() const { return live() ? "kmod" : "image"; }

protected:
	static Status no_accesses();
};

/// Keep the device open all the time, so that the module stays, or only during
/// each call, so that it can be unloaded in between. Calls then fail with
/// ENODEV, or what open(2) says, once the module has gone or was loaded anew.
enum class Hold { Always, Briefly };

/// Open @path: the module's device, or an image as made by encode_image().
/// Errors: ENOENT, EACCES and what else open(2) says, each with a hint.
Result<std::unique_ptr<Source>> open_source(const std::string &path, Hold hold = Hold::Always);

/// What open_source() does for Hold::Briefly.
Result<std::unique_ptr<Source>> brief_source(const std::string &path);

/// Path of the module's device.
inline constexpr const char *kDevicePath = "/dev/" LS_DEVICE_NAME;

/// What a device offered at one moment, in one file: for tests, bug reports
/// and fuzzing. The format is private to one ABI version.
struct Image {
	ls_info info{};
	std::vector<ls_prim_info> prims;
	std::vector<ls_chain> chains; ///< [0] is chain 1
	std::vector<ls_class_counts> counts;
	std::optional<ls_access_info> accesses = {};
	std::vector<std::uint32_t> access_counts = {}; ///< [0] is that of LS_REC_ACCESS 1
	std::vector<std::byte> log;
};
std::string encode_image(const Image &image);
Result<Image> decode_image(std::string_view bytes, const std::string &name);
std::unique_ptr<Source> image_source(Image image);

/// Error unless the ABI's major version is ours.
Status check_abi(const ls_info &info);

/// Have a module record again that somebody has stopped and left so.
Status start_if_stopped(Source &source, const ls_info &info);

} // namespace lockscope
