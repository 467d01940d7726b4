// SPDX-License-Identifier: GPL-2.0
// What the tests of userspace share.
#pragma once

#include "log_builder.h"

#include "analysis/findings.h"
#include "record/recorder.h"
#include "store/load.h"

#include <gtest/gtest.h>

#include <string>

namespace lockscope::test {

/// A folder that goes with its owner.
class TempDir {
public:
	TempDir();
	~TempDir();
	TempDir(const TempDir &) = delete;
	std::string operator/(const std::string &name) const { return path_ + "/" + name; }
	const std::string &path() const { return path_; }

private:
	std::string path_;
};

/// Record the whole image into @store, as `record` does.
Status record_image(const Image &image, const std::string &store,
		    const std::string &boot = "boot-1");

/// Make the store one of an older schema, as a program of that time wrote it.
void age_store(const std::string &store, int version);

/// What the analyses see of the log.
Model model_of(const LogBuilder &log);
Model model_of(const std::vector<const LogBuilder *> &runs);

/// The one finding of the log; a test failure when there is not exactly one.
Finding only_finding(const Model &model);

/// The filter of that name, nullptr when it does not apply.
const Filter *filter(const Finding &finding, const std::string &name);

std::string slurp(const std::string &path);
void spill(const std::string &path, const std::string &data);

} // namespace lockscope::test
