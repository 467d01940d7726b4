// SPDX-License-Identifier: GPL-2.0
#include "cli/formats.h"

#include "cli/cli.h"

#include "report/crash.h"
#include "report/formats.h"
#include "report/html/html.h"
#include "stat/stat.h"
#include "util/file.h"
#include "util/file_writer.h"

#include <cerrno>
#include <cstdio>

namespace lockscope::cli {

namespace {

/// A folder as syzkaller has for a crash, for each finding: @folder/ID.
Status write_crashes(const Model &model, const Analysis &analysis, const ReportOptions &options,
		     const std::string &folder)
{
	if (folder.empty())
		return usage_error("the format syzkaller is a folder", "name it with -o DIR");
	LS_TRY_STATUS(make_folder(folder));
	for (const auto *finding : select_findings(analysis, options)) {
		const std::string crash = folder + "/" + finding->id;
		LS_TRY_STATUS(make_folder(crash));
		const Crash made = crash_of(model, *finding);
		LS_TRY_STATUS(write_file(crash + "/description", made.title + "\n"));
		LS_TRY_STATUS(write_file(crash + "/report0", made.report));
		LS_TRY_STATUS(write_file(crash + "/log0", made.log));
	}
	return success();
}

} // namespace

std::string html_of(const Model &model, const Analysis &analysis, const ReportOptions &options,
		    const GraphPart *part)
{
	StatReport stat = stat_of(model);
	arrange(stat, stat_orders().front().name, "");
	return html_report(model, analysis, options, stat, part);
}

bool foreign_format(const std::string &format)
{
	return format != "text" && format != "json";
}

int deliver_foreign(const std::string &format, const Model &model, const Analysis &analysis,
		    const CiOptions &options, const std::string &out)
{
	if (format == "syzkaller") {
		const auto written = write_crashes(model, analysis, options.report, out);
		return written ? 0 : fail(written.error());
	}
	return deliver(format == "html"	   ? html_of(model, analysis, options.report)
		       : format == "sarif" ? sarif_report(model, analysis, options.report)
		       : format == "junit" ? junit_report(model, analysis, options)
		       : format == "ktap"  ? ktap_report(model, analysis, options)
					   : dmesg_report(model, analysis, options.report),
		       out);
}

int deliver_parts(const std::function<void(const Sink &)> &make, const std::string &path)
{
	if (!path.empty()) {
		auto file = FileWriter::open(path);
		if (!file)
			return fail(file.error());
		Status done = success();
		make([&](std::string_view part) {
			if (done)
				done = file->write(part);
		});
		if (done)
			done = file->finish();
		return done ? 0 : fail(done.error());
	}
	int error = 0;
	make([&](std::string_view part) {
		if (!error && std::fwrite(part.data(), 1, part.size(), stdout) != part.size())
			error = errno;
	});
	if (!error && std::fflush(stdout) != 0)
		error = errno;
	return error ? fail(os_error(error, "cannot write to standard output",
				     "write to a file with -o"))
		     : 0;
}

} // namespace lockscope::cli
