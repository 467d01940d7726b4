// SPDX-License-Identifier: GPL-2.0
#include "record/session.h"

#include "record/debug_information.h"
#include "source/bpf.h"
#include "store/crash_note.h"
#include "util/file.h"
#include "util/modules.h"

#include <cstring>

namespace lockscope {

namespace {

/// Files of modules are places of debug information, too.
std::vector<std::string> with_files(const SessionOptions &options)
{
	auto out = options.symbol_dirs;
	if (options.modules)
		for (const auto &module : *options.modules)
			if (!module_name(module).empty())
				out.push_back(module);
	return out;
}

} // namespace

Session::Session(const SessionOptions &options, std::string folder)
	: options_(options), folder_(std::move(folder))
{
	if (options.modules)
		modules_.emplace(*options.modules);
}

Status Session::drain()
{
	if (modules_)
		modules_->tick();
	return recorder_->drain();
}

Result<std::unique_ptr<Session>> Session::open(const SessionOptions &options)
{
	std::unique_ptr<Session> session(new Session(options, ""));
	auto source = options.bpf ? bpf_source() : open_source(options.device, options.hold);
	if (!source)
		return source.error();
	session->source_ = std::move(*source);
	session->named_ = session->source_->live();
	LS_TRY_STATUS(session->attach(session->named_ ? boot_id() : "image"));
	return session;
}

Result<std::unique_ptr<Session>> Session::open(const SessionOptions &options,
					       std::unique_ptr<Source> source,
					       const OtherSystem &system)
{
	std::unique_ptr<Session> session(new Session(options, system.folder));
	session->source_ = std::move(source);
	session->named_ = true;
	LS_TRY_STATUS(session->attach(system.boot.empty() ? "image" : system.boot));
	return session;
}

Status Session::attach(const std::string &boot)
{
	/* A module with another ABI must not touch the store. */
	auto info = source_->info();
	if (!info)
		return info.error();
	LS_TRY_STATUS(check_abi(*info));

	auto store = StoreWriter::open(options_.store);
	if (!store)
		return store.error();
	store_.emplace(std::move(*store));
	std::string build_id;
	if (named_) {
		auto symbols = std::make_unique<KernelSymbols>(folder_ + "/proc", folder_ + "/sys");
		build_id = symbols->build_id("vmlinux");
		symbols_ = std::move(symbols);
		finder_.emplace(folder_.empty() ? kernel_release()
						: std::string(info->release,
							      ::strnlen(info->release,
									sizeof(info->release))),
				with_files(options_));
		fields_.use_debug_information(
			[this](const std::string &module) {
				return finder_->dwarf(module, symbols_->build_id(module));
			},
			folder_ + "/sys/module");
	} else {
		symbols_ = std::make_unique<NoSymbols>();
	}
	recorder_ = std::make_unique<Recorder>(*source_, *store_, *symbols_, fields());
	if (named_)
		recorder_->name_data_by(names_);
	LS_TRY_STATUS(recorder_->attach(source_->backend(), boot, build_id));
	return start_if_stopped(*source_, *info);
}

FieldNamer Session::fields()
{
	if (!named_)
		return {};
	return [this](const ClassRecord &record) { return classes_.find(record); };
}

Status Session::finish()
{
	LS_TRY_STATUS(source_->control(LS_CTL_FLUSH));
	LS_TRY_STATUS(recorder_->drain());
	LS_TRY_STATUS(recorder_->snapshot());
	if (!named_)
		return success();
	if (modules_) {
		modules_->end(*finder_, *symbols_);
		LS_TRY_STATUS(recorder_->put_modules(modules_->result()));
	}
	return add_debug_information(*store_, *finder_, Again::No);
}

Status Session::begin()
{
	begun_ = true;
	leave_crash_note(options_.store, recorder_->run());
	if (named_ && modules_) {
		/* Stored at once: the machine may die. */
		modules_->begin(*finder_, *symbols_, options_.watch_sites);
		LS_TRY_STATUS(recorder_->put_modules(modules_->result()));
	}
	return recorder_->set_finish(RunEnd::Open);
}

Status Session::close(RunEnd end)
{
	LS_TRY_STATUS(recorder_->set_finish(end));
	closed_ = true;
	return success();
}

void Session::cancel()
{
	if (!closed_)
		recorder_->forget_run();
	closed_ = true;
}

void Session::give_up(const Error &error)
{
	if (!begun_)
		return cancel();
	if (!closed_)
		(void)recorder_->set_finish(RunEnd::Failed, error.what).ok();
	closed_ = true;
}

} // namespace lockscope
