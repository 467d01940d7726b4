// SPDX-License-Identifier: GPL-2.0
// The module's character device.
#include "source/source.h"

#include "util/fd.h"
#include "util/file.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace lockscope {

namespace {

Result<Fd> open_device(const std::string &path)
{
	Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
	if (!fd.valid() && (errno == EACCES || errno == EROFS))
		fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (fd.valid())
		return fd;
	const char *hint = errno == ENOENT ? "load the module: insmod lockscope.ko"
			   : errno == EACCES || errno == EPERM ? "run as root"
							       : "";
	return os_error(errno, "cannot open " + path, hint);
}

class KmodSource final : public Source {
public:
	KmodSource(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

	Result<ls_info> info() override
	{
		ls_info info{};
		LS_TRY_STATUS(control_call(LS_IOC_INFO, &info, "read counters of"));
		return info;
	}

	Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) override
	{
		for (;;) {
			ssize_t n = ::pread(fd_.get(), buffer.data(), buffer.size(),
					    static_cast<off_t>(offset));
			if (n >= 0)
				return static_cast<std::size_t>(n);
			if (errno != EINTR)
				return os_error(errno, "cannot read the log of " + path_);
		}
	}

	Result<std::vector<ls_chain>> chains(std::uint32_t from) override
	{
		std::vector<ls_chain> all;
		std::vector<ls_chain> block(8192);
		for (;;) {
			ls_chains_req req{from + static_cast<std::uint32_t>(all.size()),
					  static_cast<std::uint32_t>(block.size()),
					  reinterpret_cast<std::uintptr_t>(block.data())};
			LS_TRY_STATUS(control_call(LS_IOC_CHAINS, &req, "read chains of"));
			const std::size_t n = std::min<std::size_t>(req.nr, block.size());
			if (n == 0)
				return all;
			all.insert(all.end(), block.begin(),
				   block.begin() + static_cast<std::ptrdiff_t>(n));
		}
	}

	Result<std::vector<ls_prim_info>> prims() override
	{
		std::vector<ls_prim_info> prims(1024);
		ls_prims_req req{static_cast<std::uint32_t>(prims.size()), 0,
				 reinterpret_cast<std::uintptr_t>(prims.data())};
		LS_TRY_STATUS(control_call(LS_IOC_PRIMS, &req, "read lock functions of"));
		prims.resize(std::min<std::size_t>(req.nr, prims.size()));
		return prims;
	}

	Result<std::vector<ls_class_counts>> counts() override
	{
		std::vector<ls_class_counts> all, block(1024);
		for (std::uint32_t from = 1;;) {
			ls_counts_req req{from, static_cast<std::uint32_t>(block.size()),
					  reinterpret_cast<std::uintptr_t>(block.data())};
			/* Not in minor 0. */
			auto read = control_call(LS_IOC_COUNTS, &req, "read counts of");
			if (!read && read.error().code == ENOTTY)
				return all;
			LS_TRY_STATUS(std::move(read));
			const std::size_t n = std::min<std::size_t>(req.nr, block.size());
			all.insert(all.end(), block.begin(),
				   block.begin() + static_cast<std::ptrdiff_t>(n));
			if (n < block.size() || req.from <= from)
				return all;
			from = req.from;
		}
	}

	Status control(ls_ctl_op op) override
	{
		__u32 arg = op;
		return control_call(LS_IOC_CTL, &arg, "control");
	}

	Result<std::vector<ls_wait_rec>> waits() override
	{
		std::vector<ls_wait_rec> all(256);
		for (;;) {
			ls_waits_req req{static_cast<std::uint32_t>(all.size()), 0,
					 reinterpret_cast<std::uintptr_t>(all.data())};
			auto asked = control_call(LS_IOC_WAITS, &req, "read waiting tasks of");
			if (!asked)
				return asked.error().code == ENOTTY ? Source::waits().error()
								    : asked.error();
			if (req.total <= all.size()) {
				all.resize(std::min<std::size_t>(req.nr, all.size()));
				return all;
			}
			all.resize(req.total + req.total / 4);
		}
	}

	std::string place(std::uint64_t ip) override
	{
		ls_rec_symbol rec{};
		rec.ip = ip;
		if (!control_call(LS_IOC_SYMBOL, &rec, "read a symbol of").ok())
			return "?";
		rec.function[sizeof(rec.function) - 1] = rec.module[sizeof(rec.module) - 1] = 0;
		char offset[16];
		std::snprintf(offset, sizeof(offset), "+0x%x", rec.offset);
		return rec.function + std::string(offset) +
		       (rec.module[0] ? std::string(" [") + rec.module + "]" : "");
	}

	Result<std::optional<ls_access_info>> access_info() override
	{
		ls_access_info info{};
		auto asked = control_call(LS_IOC_ACCESS_INFO, &info, "read access counters of");
		if (asked)
			return std::optional(info);
		if (asked.error().code == ENOTTY)
			return std::optional<ls_access_info>{};
		return asked.error();
	}

	Result<std::vector<std::uint32_t>> access_counts() override
	{
		std::vector<std::uint32_t> all, block(8192);
		for (;;) {
			ls_access_counts_req req{1 + static_cast<std::uint32_t>(all.size()),
						 static_cast<std::uint32_t>(block.size()),
						 reinterpret_cast<std::uintptr_t>(block.data())};
			LS_TRY_STATUS(control_call(LS_IOC_ACCESS_COUNTS, &req,
						   "read counts of accesses of"));
			const std::size_t n = std::min<std::size_t>(req.nr, block.size());
			if (n == 0)
				return all;
			all.insert(all.end(), block.begin(),
				   block.begin() + static_cast<std::ptrdiff_t>(n));
		}
	}

	Status access_control(const ls_access_ctl &ctl) override
	{
		ls_access_ctl arg = ctl;
		return access_call(LS_IOC_ACCESS_CTL, &arg, "watch accesses with");
	}

	Status follow(const ls_follow_req &req) override
	{
		ls_follow_req arg = req;
		return access_call(LS_IOC_FOLLOW, &arg, "follow a variable with");
	}

	Status probe(std::vector<ls_site> &sites) override
	{
		ls_sites_req req{static_cast<std::uint32_t>(sites.size()), 0,
				 reinterpret_cast<std::uintptr_t>(sites.data())};
		return access_call(LS_IOC_SITES, &req, "put probes on code with");
	}

	Result<std::vector<std::uint32_t>> probe_hits(std::size_t n) override
	{
		std::vector<std::uint32_t> hits(n);
		ls_sites_req req{static_cast<std::uint32_t>(n), 0,
				 reinterpret_cast<std::uintptr_t>(hits.data())};
		LS_TRY_STATUS(access_call(LS_IOC_SITE_HITS, &req, "count hits of probes of"));
		hits.resize(std::min<std::size_t>(req.nr, n));
		return hits;
	}

	Status set_plans(const std::vector<ls_confirm_plan> &plans,
			 const std::vector<ls_confirm_point> &points) override
	{
		ls_confirm_req req{static_cast<std::uint32_t>(plans.size()),
				   static_cast<std::uint32_t>(points.size()),
				   reinterpret_cast<std::uintptr_t>(plans.data()),
				   reinterpret_cast<std::uintptr_t>(points.data())};
		auto set = control_call(LS_IOC_CONFIRM, &req, "set a plan of");
		if (!set && set.error().code == EBUSY)
			return os_error(EBUSY, "cannot set a plan of " + path_,
					"another lockscope confirm is running: wait for its end");
		return set;
	}

	Result<std::unique_ptr<ls_confirm_state>> plan_state(std::uint32_t index) override
	{
		auto state = std::make_unique<ls_confirm_state>();
		ls_confirm_state_req req{index, 0, reinterpret_cast<std::uintptr_t>(state.get())};
		LS_TRY_STATUS(control_call(LS_IOC_CONFIRM_STATE, &req, "read a plan of"));
		return state;
	}

	bool live() const override { return true; }

private:
	Status control_call(unsigned long request, void *arg, const char *action)
	{
		while (::ioctl(fd_.get(), request, arg) < 0)
			if (errno != EINTR)
				return os_error(
					errno, std::string("cannot ") + action + " " + path_,
					errno == ENOTTY
						? "module and program are of different "
						  "versions: build and load both from one tree"
						: "");
		return success();
	}

	Status access_call(unsigned long request, void *arg, const char *action)
	{
		auto called = control_call(request, arg, action);
		return !called && called.error().code == ENOTTY ? no_accesses() : called;
	}

	Fd fd_;
	std::string path_;
};

} // namespace

Result<std::unique_ptr<Source>> open_source(const std::string &path, Hold hold)
{
	if (hold == Hold::Briefly)
		return brief_source(path);
	auto fd = open_device(path);
	if (!fd)
		return fd.error();
	struct stat status {};
	if (::fstat(fd->get(), &status) != 0)
		return os_error(errno, "cannot open " + path);
	if (S_ISCHR(status.st_mode))
		return std::unique_ptr<Source>(std::make_unique<KmodSource>(std::move(*fd), path));

	auto bytes = read_file(path);
	if (!bytes)
		return bytes.error();
	auto image = decode_image(*bytes, path);
	if (!image)
		return image.error();
	return image_source(std::move(*image));
}

Status check_abi(const ls_info &info)
{
	if (info.abi_major == LS_ABI_MAJOR)
		return success();
	return Error{0,
		     "the module speaks ABI " + std::to_string(info.abi_major) + "." +
			     std::to_string(info.abi_minor) + ", this program " +
			     std::to_string(LS_ABI_MAJOR) + "." + std::to_string(LS_ABI_MINOR),
		     "unload the module (rmmod lockscope) and load the one built with this program",
		     Exit::Environment};
}

Status start_if_stopped(Source &source, const ls_info &info)
{
	return info.active || !source.live() ? success() : source.control(LS_CTL_START);
}

} // namespace lockscope
