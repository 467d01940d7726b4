// SPDX-License-Identifier: GPL-2.0
#include "cli/served.h"

#include "cli/formats.h"

#include "analysis/filters/annotations.h"
#include "report/html/html.h"
#include "report/metrics.h"
#include "store/load.h"
#include "util/date.h"
#include "util/file.h"
#include "util/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>

namespace lockscope::cli {

namespace {

constexpr const char *kPage = "";
constexpr const char *kJson = "report.json";
constexpr const char *kMetrics = "metrics";
constexpr const char *kHtmlType = "text/html; charset=utf-8";

/* A store that is recorded to changes all the time; making a report of a large one takes
 * seconds. At most a fifth of the time goes into reports of one. */
constexpr auto kLeastAge = std::chrono::seconds(1);
constexpr int kRest = 4;

constexpr unsigned kMostRefresh = 24 * 3600;

/// What changes when a store is written: its size and time, and those of its write-ahead log.
std::string state_of(const std::string &store)
{
	std::string out;
	for (const auto &path : {store, store + "-wal"}) {
		struct stat status {};
		if (::stat(path.c_str(), &status) != 0)
			out += "-";
		else
			out += std::to_string(status.st_ino) + " " +
			       std::to_string(status.st_size) + " " +
			       std::to_string(status.st_mtim.tv_sec) + " " +
			       std::to_string(status.st_mtim.tv_nsec);
		out += "\n";
	}
	return out;
}

std::string time_words(std::int64_t time)
{
	const auto second = time % 86400;
	char text[32];
	std::snprintf(text, sizeof(text), " %02d:%02d:%02d UTC", static_cast<int>(second / 3600),
		      static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
	return day_of(time) + text;
}

bool store_name(std::string_view name)
{
	return name.ends_with(".db") && !name.starts_with('.') &&
	       name.find('/') == std::string_view::npos;
}

/// The status of a regular file @name in @folder; a symbolic link is none.
std::optional<struct stat> regular_file(const std::string &folder, const std::string &name)
{
	struct stat status {};
	if (::fstatat(AT_FDCWD, (folder + "/" + name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(status.st_mode))
		return std::nullopt;
	return status;
}

HttpResponse not_found()
{
	return text_response(404, "there is no such page");
}

HttpResponse error_response(const Error &error)
{
	return text_response(500, "lockscope: " + error.what +
					  (error.hint.empty() ? "" : "\nHINT: " + error.hint));
}

HttpResponse body_response(std::string text, const char *type)
{
	HttpResponse out;
	out.type = type;
	out.body = std::make_shared<const std::string>(std::move(text));
	return out;
}

HttpResponse html_response(std::string text)
{
	HttpResponse out = body_response(std::move(text), kHtmlType);
	out.policy = html_policy();
	return out;
}

/// The seconds of ?refresh=N, 0 without; nullopt: it is no such number.
std::optional<unsigned> refresh_of(const HttpRequest &request)
{
	const auto at = request.query.find("refresh");
	if (at == request.query.end())
		return 0;
	const std::string &text = at->second;
	unsigned out = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
	if (error != std::errc() || end != text.data() + text.size() || out == 0 ||
	    out > kMostRefresh)
		return std::nullopt;
	return out;
}

} // namespace

ServedStores::ServedStores(ServedOptions options)
	: options_(std::move(options)), folder_(is_folder(options_.path))
{
}

HttpResponse ServedStores::answer(const HttpRequest &request)
{
	const auto refresh = refresh_of(request);
	if (!refresh)
		return text_response(400,
				     "refresh takes seconds, 1 to " + std::to_string(kMostRefresh));
	if (!request.path.starts_with('/'))
		return not_found();
	std::string store = options_.path, what = request.path.substr(1);
	HttpResponse out;
	if (folder_ && what.empty()) {
		out = index();
	} else {
		if (folder_) {
			const auto slash = what.find('/');
			const std::string name = what.substr(0, slash);
			if (slash == what.npos || !store_name(name) ||
			    !regular_file(options_.path, name))
				return not_found();
			store += "/" + name;
			what.erase(0, slash + 1);
		}
		if (what != kPage && what != kJson && what != kMetrics)
			return not_found();
		out = page(store, what);
	}
	/* Errors as well: a store may have its first run soon. */
	out.refresh = *refresh;
	return out;
}

HttpResponse ServedStores::index() const
{
	const std::unique_ptr<DIR, int (*)(DIR *)> folder(::opendir(options_.path.c_str()),
							  ::closedir);
	if (!folder)
		return error_response(os_error(errno, "cannot read " + options_.path));
	std::vector<HtmlIndexRow> rows;
	std::size_t left_out = 0;
	while (const dirent *entry = ::readdir(folder.get())) {
		const std::string name = entry->d_name;
		const auto status =
			store_name(name) ? regular_file(options_.path, name) : std::nullopt;
		if (!status)
			continue;
		if (rows.size() == kMostStores)
			left_out++;
		else
			rows.push_back({name, url_encoded(name) + "/",
					static_cast<std::uint64_t>(status->st_size),
					time_words(status->st_mtim.tv_sec)});
	}
	std::sort(rows.begin(), rows.end(),
		  [](const auto &a, const auto &b) { return a.name < b.name; });
	return html_response(html_index(options_.path, rows, left_out));
}

HttpResponse ServedStores::page(const std::string &store, const std::string &what)
{
	/* Before it is read: what is written meanwhile makes it look changed. */
	std::string state = state_of(store);
	const auto now = Clock::now();
	const auto known = pages_.find({store, what});
	if (known != pages_.end()) {
		const Page &page = known->second;
		if (page.state == state ||
		    now - page.made < std::max<Clock::duration>(kLeastAge, kRest * page.took))
			return page.response;
	}
	HttpResponse response = make(store, what);
	const auto made = Clock::now();
	pages_.insert_or_assign({store, what}, Page{std::move(state), made, made - now, response});
	make_room();
	return response;
}

void ServedStores::make_room()
{
	for (;;) {
		std::size_t bytes = 0;
		auto oldest = pages_.begin();
		for (auto at = pages_.begin(); at != pages_.end(); ++at) {
			bytes += at->second.response.body->size();
			if (at->second.made < oldest->second.made)
				oldest = at;
		}
		/* The newest stays, however large. */
		if (pages_.size() <= 1 || (pages_.size() <= kMostPages && bytes <= kMostPageBytes))
			return;
		pages_.erase(oldest);
	}
}

HttpResponse ServedStores::make(const std::string &store, const std::string &what) const
{
	auto model = load_stores({store}, Damage::Salvage);
	if (!model)
		return error_response(model.error());
	if (auto status = annotations::load(*model); !status)
		return error_response(status.error());
	auto analysis = analyse_with(*model, options_.suppressions);
	if (!analysis)
		return error_response(analysis.error());
	if (what == kMetrics) {
		Metrics metrics = metrics_of(*model, *analysis, std::time(nullptr));
		metrics.store_bytes = store_bytes(store);
		return body_response(metrics_text(metrics), kMetricsType);
	}
	if (model->runs.empty())
		return text_response(503, "nothing was recorded in " + store + " yet");
	if (what == kJson)
		return body_response(json_report(*model, *analysis, options_.report),
				     "application/json");
	return html_response(html_of(*model, *analysis, options_.report));
}

} // namespace lockscope::cli
