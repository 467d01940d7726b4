// SPDX-License-Identifier: GPL-2.0
// Sources of records. The recorder only uses this interface; it is implemented by the module's
// device and saved images.
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

	/// Present counters, losses and sizes.
	virtual Result<ls_info> info() = 0;
	/// Whole records from byte @offset on; 0 at the end of the log.
	virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) = 0;
	/// Chains @from (>= 1) to the newest; the element i is chain from + i.
	virtual Result<std::vector<ls_chain>> chains(std::uint32_t from) = 0;
	/// The lock functions and how each is hooked.
	virtual Result<std::vector<ls_prim_info>> prims() = 0;
	/// Counts of classes; empty from a module without them.
	virtual Result<std::vector<ls_class_counts>> counts() = 0;
	virtual Status control(ls_ctl_op op) = 0;
	/// Tasks that are waiting for locks. ENOTTY from a module without LS_IOC_WAITS (before
	/// ABI 2.4).
	virtual Result<std::vector<ls_wait_rec>> waits();
	/// "function+0x12 [module]" of a present code address, "?" for none. Faster for a few
	/// than reading /proc/kallsyms.
	virtual std::string place(std::uint64_t) { return "?"; }

	/// Counters of memory accesses; nullopt from a module that does not watch them (ABI
	/// minor 0).
	virtual Result<std::optional<ls_access_info>> access_info()
	{
		return std::optional<ls_access_info>{};
	}
	/// Accesses at each access site; element i is that of LS_REC_ACCESS i + 1.
	virtual Result<std::vector<std::uint32_t>> access_counts()
	{
		return std::vector<std::uint32_t>{};
	}
	/// Change how accesses are watched, or which granules are followed. Errors: ENOTTY
	/// from a module that does not watch them.
	virtual Status access_control(const ls_access_ctl &) { return no_accesses(); }
	virtual Status follow(const ls_follow_req &) { return no_accesses(); }
	/// Replace the probes on accesses of unmodified code; errors of each site are filled
	/// in. They stay as long as this source is open.
	virtual Status probe(std::vector<ls_site> &) { return no_accesses(); }
	/// Hits of each of these probes, @n of them, since it was registered.
	virtual Result<std::vector<std::uint32_t>> probe_hits(std::size_t)
	{
		return no_accesses().error();
	}

	/// Hold contexts at the gates of @plans from now on, as long as this source is open;
	/// none: no more. EBUSY: another program has plans. ENOTTY before ABI 2.9.
	virtual Status set_plans(const std::vector<ls_confirm_plan> &plans,
				 const std::vector<ls_confirm_point> &points);
	/// Counts and evidence of plan @index since it was set.
	virtual Result<std::unique_ptr<ls_confirm_state>> plan_state(std::uint32_t index);

	/// The addresses belong to the running kernel, so its symbol table can resolve them.
	virtual bool live() const = 0;
	/// Name of this source in a store.
	virtual const char *backend() const { return live() ? "kmod" : "image"; }

protected:
	static Status no_accesses();
};

/// Keep the device open, so that the module stays, or open it for each call, so that it can be
/// unloaded in between. Calls then fail with ENODEV, or an error of open(2), once the module
/// was unloaded or loaded again.
enum class Hold { Always, Briefly };

/// Open @path: the module's device, or an image from encode_image(). Errors: those of open(2),
/// such as ENOENT and EACCES, each with a hint.
Result<std::unique_ptr<Source>> open_source(const std::string &path, Hold hold = Hold::Always);

/// open_source() for Hold::Briefly.
Result<std::unique_ptr<Source>> brief_source(const std::string &path);

/// Path of the module's device.
inline constexpr const char *kDevicePath = "/dev/" LS_DEVICE_NAME;

/// The data of a device at one moment, in one file: for tests, bug reports and fuzzing. The
/// format is private to one ABI version.
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
/// @backend: its name in a store.
std::unique_ptr<Source> image_source(Image image, const char *backend = "image");

/// An error unless the ABI's major version is known.
Status check_abi(const ls_info &info);

/// Start a module that was stopped.
Status start_if_stopped(Source &source, const ls_info &info);

} // namespace lockscope
