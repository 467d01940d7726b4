// SPDX-License-Identifier: GPL-2.0
// lockscope confirm --deadly: evidence of a deadlock that was let happen, as files in a folder.
#pragma once

#include "source/source.h"
#include "util/fd.h"
#include "util/result.h"

#include <string>

namespace lockscope::cli {

class DeadlyProof {
public:
	/// Make @folder, and let the kernel report tasks that hang after some seconds. An error
	/// where the deadlock would stop more than a guest. The kernel's log is kept from here on.
	static Result<DeadlyProof> begin(const std::string &folder);

	/// The sides went on into the deadlock: write waits.txt, by the module's graph of waits,
	/// and kernel.txt, once the kernel has reported it as well. Takes up to 40 s.
	Status gather(Source &source);
	/// One more file of the folder.
	Status add(const std::string &name, const std::string &text) const;
	/// A copy of the closed store @path.
	Status add_store(const std::string &path) const;

	const std::string &folder() const { return folder_; }

private:
	DeadlyProof(std::string folder, Fd log) : folder_(std::move(folder)), log_(std::move(log))
	{
	}
	void read_log();

	std::string folder_, kernel_;
	Fd log_;
};

} // namespace lockscope::cli
