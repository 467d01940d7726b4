// SPDX-License-Identifier: GPL-2.0
// Loads lockscope.ko for the duration of a recording.
#pragma once

#include "util/result.h"

#include <memory>
#include <string>
#include <utility>

namespace lockscope {

bool module_loaded();

/// Path of lockscope.ko for the running kernel: @given if not empty, else next to the programs
/// (../kmod/RELEASE), else among the kernel's modules.
Result<std::string> find_module(const std::string &given);

/// Unloads lockscope.ko in its destructor, if it loaded it.
class LoadedModule {
public:
	/// Load the module unless it is loaded. Waits for the device to appear, 5 s at most.
	static Result<LoadedModule> ensure(const std::string &path);

	LoadedModule(LoadedModule &&other) noexcept : ours_(std::exchange(other.ours_, false)) {}
	LoadedModule &operator=(LoadedModule &&) = delete;
	~LoadedModule();

	bool ours() const { return ours_; }
	/// Leave it loaded.
	void keep() { ours_ = false; }
	/// Unload now. Does nothing if the module was loaded before. Waits up to 10 s for the
	/// last user of the device.
	Status unload();

private:
	explicit LoadedModule(bool ours) : ours_(ours) {}
	bool ours_;
};

} // namespace lockscope
