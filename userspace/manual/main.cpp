// SPDX-License-Identifier: GPL-2.0
// lockscope-manual: writes manual pages and completions of the programs and the module, as
// they are installed below share/.
#include "cli/app.h"
#include "cli/vm.h"
#include "lockscoped/options.h"
#include "manual/commands.h"
#include "manual/completion.h"
#include "manual/module.h"
#include "manual/settings.h"

#include "util/file.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace fs = std::filesystem;
using namespace lockscope;
using namespace lockscope::manual;

namespace {

struct ManualOptions {
	std::string pages, module, out;
};

int fail_manual(const Error &error)
{
	std::fprintf(stderr, "lockscope-manual: %s\nHINT: %s\n", error.what.c_str(),
		     error.hint.c_str());
	return static_cast<int>(error.exit);
}

/// Of SOURCE_DATE_EPOCH, so that a build can be repeated, else today.
std::string build_date()
{
	std::time_t now = std::time(nullptr);
	if (const char *set = std::getenv("SOURCE_DATE_EPOCH"))
		now = static_cast<std::time_t>(std::strtoll(set, nullptr, 10));
	char text[32] = "";
	std::tm parts{};
	if (::gmtime_r(&now, &parts))
		std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
	return text;
}

/// Write a file and the folders above it.
Status put(const fs::path &path, const std::string &text)
{
	std::error_code error;
	fs::create_directories(path.parent_path(), error);
	if (error)
		return os_error(error.value(), "cannot create " + path.parent_path().string());
	return write_file(path, text);
}

class Writer {
public:
	explicit Writer(ManualOptions options) : options_(std::move(options)), date_(build_date())
	{
	}

	/// The pages of @program and its subcommands, with the texts of @pages.
	Status program_pages(const Command &program, const std::string &section)
	{
		for (const Command *command : all_commands(program)) {
			const PageTitle title{page_name(*command), section, date_};
			Page page = command_page(*command, program, title);
			LS_TRY_STATUS(add_own_text(page, title));
			LS_TRY_STATUS(add_common(page, program.name + "-common"));
			LS_TRY_STATUS(put_page(page, title));
		}
		return success();
	}

	Status module()
	{
		const PageTitle title{"lockscope", "4", date_};
		auto text = read_file(text_path(title));
		if (!text)
			return text.error();
		auto page = module_page(options_.module, *text, title);
		return page ? put_page(*page, title) : page.error();
	}

	Status settings(const Command &lockscope, const Command &lockscoped)
	{
		const PageTitle title{"lockscope.toml", "5", date_};
		Page page = settings_page({&lockscope, &lockscoped}, title);
		LS_TRY_STATUS(add_own_text(page, title));
		return put_page(page, title);
	}

	Status completions(const Command &program)
	{
		const fs::path out(options_.out);
		LS_TRY_STATUS(put(out / "bash-completion/completions" / program.name,
				  bash_completion(program)));
		LS_TRY_STATUS(put(out / "zsh/site-functions" / ("_" + program.name),
				  zsh_completion(program)));
		return put(out / "fish/vendor_completions.d" / (program.name + ".fish"),
			   fish_completion(program));
	}

private:
	std::string text_path(const PageTitle &title) const
	{
		return options_.pages + "/" + title.name + "." + title.section;
	}

	Status add_own_text(Page &page, const PageTitle &title)
	{
		const std::string path = text_path(title);
		if (!exists(path))
			return success();
		auto text = read_file(path);
		return text ? page.add_text(*text, path) : text.error();
	}

	/// Sections that the page does not have yet, from a text for all pages of a program.
	Status add_common(Page &page, const std::string &name)
	{
		const std::string path = options_.pages + "/" + name;
		if (page.has("EXIT STATUS") || !exists(path))
			return success();
		auto text = read_file(path);
		return text ? page.add_text(*text, path) : text.error();
	}

	Status put_page(const Page &page, const PageTitle &title)
	{
		return put(fs::path(options_.out) / ("man/man" + title.section) /
				   (title.name + "." + title.section),
			   page.text());
	}

	ManualOptions options_;
	std::string date_;
};

Status write_all(const ManualOptions &options)
{
	cli::Globals globals;
	auto app = cli::make_app(globals);
	cli::add_vm_command(*app, globals.exit_status);
	DaemonOptions daemon;
	const Command lockscope = read_tree(*app);
	const Command lockscoped = read_tree(*make_daemon_app(daemon));
	Writer writer(options);
	LS_TRY_STATUS(writer.program_pages(lockscope, "1"));
	LS_TRY_STATUS(writer.program_pages(lockscoped, "8"));
	LS_TRY_STATUS(writer.module());
	LS_TRY_STATUS(writer.settings(lockscope, lockscoped));
	LS_TRY_STATUS(writer.completions(lockscope));
	return writer.completions(lockscoped);
}

} // namespace

int main(int argc, char **argv)
{
	ManualOptions options;
	CLI::App app{"Writes manual pages and completions"};
	app.add_option("--pages", options.pages, "folder with texts of pages")->required();
	app.add_option("--module", options.module, "folder with the module's sources")->required();
	app.add_option("-o,--output", options.out, "folder to write to")->required();
	try {
		app.parse(argc, argv);
	} catch (const CLI::Success &e) {
		return app.exit(e);
	} catch (const CLI::ParseError &e) {
		return fail_manual(usage_error(e.what(), "see lockscope-manual --help"));
	}
	const auto status = write_all(options);
	return status ? 0 : fail_manual(status.error());
}
