// SPDX-License-Identifier: GPL-2.0
#include "record/session.h"

#include "util/file.h"

namespace lockscope {

Result<std::unique_ptr<Session>> Session::open(const SessionOptions &options)
{
	std::unique_ptr<Session> session(new Session(options));
	auto source = open_source(options.device);
	if (!source)
		return source.error();
	session->source_ = std::move(*source);
	session->live_ = session->source_->live();
	/* A module that speaks another ABI must not cost a store its place. */
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
	session->recorder_ = std::make_unique<Recorder>(*session->source_, *session->store_,
							*session->symbols_, FieldNamer{});
	LS_TRY_STATUS(session->recorder_->attach(session->live_ ? "kmod" : "image", boot, build_id));
	return session;
}

Status Session::finish()
{
	LS_TRY_STATUS(source_->control(LS_CTL_FLUSH));
	LS_TRY_STATUS(recorder_->drain());
	return recorder_->snapshot();
}

} // namespace lockscope
