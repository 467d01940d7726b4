// SPDX-License-Identifier: GPL-2.0
// Saved images of a device.
#include "source/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lockscope {

namespace {

constexpr char kMagic[8] = {'L', 'S', 'I', 'M', 'A', 'G', 'E', '3'};

template <typename T> void put(std::string &out, const T *items, std::size_t n)
{
	out.append(reinterpret_cast<const char *>(items), n * sizeof(T));
}

template <typename T> bool take(std::string_view &bytes, T *items, std::size_t n)
{
	if (n > bytes.size() / sizeof(T))
		return false;
	if (n)
		std::memcpy(items, bytes.data(), n * sizeof(T));
	bytes.remove_prefix(n * sizeof(T));
	return true;
}

bool take_accesses(std::string_view &bytes, Image &image)
{
	std::uint32_t accesses[2];
	if (!take(bytes, accesses, 2))
		return false;
	if (accesses[0] && !take(bytes, &image.accesses.emplace(), 1))
		return false;
	if (accesses[1] > bytes.size() / sizeof(std::uint32_t))
		return false;
	image.access_counts.resize(accesses[1]);
	return take(bytes, image.access_counts.data(), accesses[1]);
}

class ImageSource final : public Source {
public:
	ImageSource(Image image, const char *backend) : image_(std::move(image)), backend_(backend)
	{
	}

	Result<ls_info> info() override { return image_.info; }

	Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) override
	{
		if (offset >= image_.log.size())
			return std::size_t{0};
		/* Whole records only, like the device; broken framing is passed on, for the
		 * decoder to refuse. */
		std::size_t at = static_cast<std::size_t>(offset), end = at;
		while (image_.log.size() - end >= sizeof(ls_rec)) {
			ls_rec header;
			std::memcpy(&header, image_.log.data() + end, sizeof(header));
			const std::size_t left = image_.log.size() - end;
			if (header.len < sizeof(header) || header.len > left) {
				end += std::min(left, buffer.size() - (end - at));
				break;
			}
			if (header.len > buffer.size() - (end - at))
				break;
			end += header.len;
		}
		if (end == at)
			end = std::min(image_.log.size(), at + buffer.size());
		std::memcpy(buffer.data(), image_.log.data() + at, end - at);
		return end - at;
	}

	Result<std::vector<ls_chain>> chains(std::uint32_t from) override
	{
		if (from == 0 || from > image_.chains.size())
			return std::vector<ls_chain>{};
		return std::vector<ls_chain>(image_.chains.begin() + (from - 1),
					     image_.chains.end());
	}

	Result<std::vector<ls_prim_info>> prims() override { return image_.prims; }
	Result<std::vector<ls_class_counts>> counts() override { return image_.counts; }
	Status control(ls_ctl_op) override { return success(); }

	Result<std::optional<ls_access_info>> access_info() override { return image_.accesses; }
	Result<std::vector<std::uint32_t>> access_counts() override { return image_.access_counts; }
	Status access_control(const ls_access_ctl &) override
	{
		return image_.accesses ? success() : no_accesses();
	}
	Status follow(const ls_follow_req &) override
	{
		return image_.accesses ? success() : no_accesses();
	}
	bool live() const override { return false; }
	const char *backend() const override { return backend_; }

private:
	Image image_;
	const char *backend_;
};

} // namespace

Result<std::vector<ls_wait_rec>> Source::waits()
{
	return os_error(ENOTTY, "the module does not tell who waits for locks",
			"unload the module (rmmod lockscope) and load the one built with this "
			"program");
}

Status Source::no_accesses()
{
	return os_error(ENOTTY, "the module does not watch memory accesses",
			"unload the module (rmmod lockscope) and load the one built with this "
			"program, or use --accesses off");
}

Status Source::set_plans(const std::vector<ls_confirm_plan> &,
			 const std::vector<ls_confirm_point> &)
{
	return os_error(ENOTTY, "this source has no gates",
			"lockscope confirm needs the loaded module of the same version");
}

Result<std::unique_ptr<ls_confirm_state>> Source::plan_state(std::uint32_t)
{
	return set_plans({}, {}).error();
}

std::string encode_image(const Image &image)
{
	std::string out(kMagic, sizeof(kMagic));
	const std::uint32_t counts[3] = {static_cast<std::uint32_t>(image.prims.size()),
					 static_cast<std::uint32_t>(image.chains.size()),
					 static_cast<std::uint32_t>(image.counts.size())};
	put(out, counts, 3);
	put(out, &image.info, 1);
	put(out, image.prims.data(), image.prims.size());
	put(out, image.chains.data(), image.chains.size());
	put(out, image.counts.data(), image.counts.size());
	const std::uint32_t accesses[2] = {image.accesses.has_value(),
					   static_cast<std::uint32_t>(image.access_counts.size())};
	put(out, accesses, 2);
	if (image.accesses)
		put(out, &*image.accesses, 1);
	put(out, image.access_counts.data(), image.access_counts.size());
	put(out, image.log.data(), image.log.size());
	return out;
}

Result<Image> decode_image(std::string_view bytes, const std::string &name)
{
	const Error bad{0, name + " is neither the LockScope device nor an image of one",
			"leave --device out to use " + std::string(kDevicePath), Exit::Environment};
	Image image;
	char magic[sizeof(kMagic)];
	std::uint32_t counts[3];
	if (!take(bytes, magic, sizeof(magic)) || std::memcmp(magic, kMagic, sizeof(magic)) != 0 ||
	    !take(bytes, counts, 3) || !take(bytes, &image.info, 1) ||
	    counts[0] > bytes.size() / sizeof(ls_prim_info))
		return bad;
	image.prims.resize(counts[0]);
	if (!take(bytes, image.prims.data(), counts[0]) ||
	    counts[1] > bytes.size() / sizeof(ls_chain))
		return bad;
	image.chains.resize(counts[1]);
	if (!take(bytes, image.chains.data(), counts[1]) ||
	    counts[2] > bytes.size() / sizeof(ls_class_counts))
		return bad;
	image.counts.resize(counts[2]);
	if (!take(bytes, image.counts.data(), counts[2]))
		return bad;
	if (!take_accesses(bytes, image))
		return bad;
	image.log.resize(bytes.size());
	take(bytes, image.log.data(), image.log.size());
	return image;
}

std::unique_ptr<Source> image_source(Image image, const char *backend)
{
	return std::make_unique<ImageSource>(std::move(image), backend);
}

} // namespace lockscope
