// SPDX-License-Identifier: GPL-2.0
// Loading lockscope.ko for the time of a recording.
#pragma once

#include "util/result.h"

#include <memory>
#include <string>
#include <utility>

namespace lockscope {

bool module_loaded();

/// Where lockscope.ko for the running kernel is: @given if not empty, else
/// beside the programs (../kmod/RELEASE), else among the kernel's modules.
Result<std::string> find_module(const std::string &given);

/// Unloads lockscope.ko when it goes, if it loaded it.
class LoadedModule {
public:
	/// Load the module unless it is there already. Waits until the device
	/// has appeared, 5 s at most.
	static Result<LoadedModule> ensure(const std::string &path);

	LoadedModule(LoadedModule &&other) noexcept : ours_(std::exchange(other.ours_, false)) {}
	LoadedModule &operator=(LoadedModule &&) = delete;
	~LoadedModule();

	bool ours() const { return ours_; }
	/// Unload now. Does nothing when the module was there before. Waits up to
	/// 10 s for the last user of the device.
	Status unload();

private:
	explicit LoadedModule(bool ours) : ours_(ours) {}
	bool ours_;
};

} // namespace lockscope
