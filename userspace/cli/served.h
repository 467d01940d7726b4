// SPDX-License-Identifier: GPL-2.0
// Stores as pages: reports, made anew when a store has grown.
#pragma once

#include "cli/suppressed.h"

#include "http/server.h"
#include "report/report.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace lockscope::cli {

struct ServedOptions {
	std::string path; ///< a store, or a folder with stores
	SuppressionOptions suppressions;
	ReportOptions report;
};

/* Pages that are kept: a browser has one open, a scraper asks for another. */
inline constexpr std::size_t kMostPages = 16;
inline constexpr std::size_t kMostPageBytes = 64 << 20;
/// Stores that an index lists.
inline constexpr std::size_t kMostStores = 1000;

class ServedStores {
public:
	explicit ServedStores(ServedOptions options);

	/*
	 * Of a store: "/", "/report.json", "/metrics". Of a folder: "/" is an index, and
	 * "/NAME.db/..." that store. Only regular files directly in the folder are there.
	 */
	HttpResponse answer(const HttpRequest &request);

private:
	using Clock = std::chrono::steady_clock;

	struct Page {
		std::string state; ///< of the file when it was made
		Clock::time_point made;
		Clock::duration took;
		HttpResponse response;
	};

	HttpResponse index() const;
	HttpResponse page(const std::string &store, const std::string &what);
	HttpResponse make(const std::string &store, const std::string &what) const;
	void make_room();

	ServedOptions options_;
	bool folder_;
	std::map<std::pair<std::string, std::string>, Page> pages_; ///< by store and what
};

} // namespace lockscope::cli
