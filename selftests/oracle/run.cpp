// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include "record/recorder.h"
#include "store/load.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace lockscope::oracle {

namespace {

Status record(const Image &image, const std::string &store)
{
	auto source = image_source(image);
	auto writer = StoreWriter::open(store);
	if (!writer)
		return writer.error();
	NoSymbols symbols;
	Recorder recorder(*source, *writer, symbols, {});
	LS_TRY_STATUS(recorder.attach("kmod", "boot-1", "0123456789abcdef"));
	LS_TRY_STATUS(recorder.drain());
	LS_TRY_STATUS(recorder.snapshot());
	return recorder.set_finish(RunEnd::Finished);
}

} // namespace

void fail(const std::string &what, int status)
{
	std::fprintf(stderr, "oracle: %s\n", what.c_str());
	std::exit(status);
}

Options parse(int argc, char **argv)
{
	Options o;
	bool fresh = true;
	for (int i = 1; i < argc; i++) {
		auto is = [&](const char *name) { return std::strcmp(argv[i], name) == 0; };
		if (is("--show")) {
			o.show = true;
			continue;
		}
		if (is("--gates")) {
			o.gates = true;
			continue;
		}
		if (is("--strict")) {
			o.strict = true;
			continue;
		}
		if (is("--list")) {
			o.list = true;
			continue;
		}
		if (i + 1 == argc)
			fail("what is " + std::string(argv[i]) + "?", 2);
		if (is("--explain")) {
			o.explain = argv[++i];
			continue;
		}
		const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 0);
		if (is("--seed"))
			o.seed = value, fresh = false;
		else if (is("--programs"))
			o.programs = value;
		else if (is("--seconds"))
			o.seconds = static_cast<double>(value), o.programs = ~std::uint64_t{0};
		else if (is("--examples"))
			o.examples = value;
		else if (is("--batch") && value)
			o.batch = value;
		else
			fail("what is " + std::string(argv[i]) + "?", 2);
		i++;
	}
	if (fresh)
		o.seed = std::uint64_t{std::random_device{}()} << 20;
	return o;
}

Folder::Folder()
{
	const bool memory = std::filesystem::is_directory("/dev/shm");
	path_ = (memory ? std::filesystem::path("/dev/shm")
			: std::filesystem::temp_directory_path()) /
		"lockscope-oracle-XXXXXX";
	if (!::mkdtemp(path_.data()))
		fail("no temporary folder", 3);
}

Folder::~Folder()
{
	std::error_code error;
	std::filesystem::remove_all(path_, error);
}

Result<Model> through_store(const Image &image, const std::string &folder)
{
	const std::string store = folder + "/oracle.db";
	for (const char *end : {"", "-wal", "-shm", "-journal"})
		std::filesystem::remove(store + end);
	LS_TRY_STATUS(record(image, store));
	return load_stores({store});
}

} // namespace lockscope::oracle
