// SPDX-License-Identifier: GPL-2.0
#include "record/session.h"

#include "record/debug_information.h"
#include "source/bpf.h"
#include "symbolize/lines.h"
#include "util/file.h"

namespace lockscope {

Result<std::unique_ptr<Session>> Session::open(const SessionOptions &options)
{
	std::unique_ptr<Session> session(new Session(options));
	auto source = options.bpf ? bpf_source() : open_source(options.device, options.hold);
	if (!source)
		return source.error();
	session->source_ = std::move(*source);
	session->live_ = session->source_->live();
	/* A module with another ABI must not touch the store. */
	auto info = session->source_->info();
	if (!info)
		return info.error();
	LS_TRY_STATUS(check_abi(*info));

	auto store = StoreWriter::open(options.store);
	if (!store)
		return store.error();
	session->store_.emplace(std::move(*store));
	std::string build_id, boot = "image";
	if (session->live_) {
		auto symbols = std::make_unique<KernelSymbols>();
		build_id = symbols->build_id("vmlinux");
		boot = boot_id();
		session->symbols_ = std::move(symbols);
	} else {
		session->symbols_ = std::make_unique<NoSymbols>();
	}
	FieldNamer fields;
	if (session->live_)
		fields = [&classes = session->classes_](const ClassRecord &record) {
			return classes.find(record);
		};
	session->recorder_ = std::make_unique<Recorder>(*session->source_, *session->store_,
							*session->symbols_, std::move(fields));
	if (session->live_)
		session->recorder_->name_data_by(session->names_);
	LS_TRY_STATUS(session->recorder_->attach(session->source_->backend(), boot, build_id));
	LS_TRY_STATUS(start_if_stopped(*session->source_, *info));
	return session;
}

Status Session::finish()
{
	LS_TRY_STATUS(source_->control(LS_CTL_FLUSH));
	LS_TRY_STATUS(recorder_->drain());
	LS_TRY_STATUS(recorder_->snapshot());
	if (!live_)
		return success();
	LineFinder finder(kernel_release(), options_.symbol_dirs);
	return add_debug_information(*store_, finder, Again::No);
}

Status Session::begin()
{
	begun_ = true;
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
