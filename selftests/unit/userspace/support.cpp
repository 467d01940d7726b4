// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include "store/schema.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace lockscope::test {

TempDir::TempDir()
{
	std::string pattern =
		(std::filesystem::temp_directory_path() / "lockscope-test-XXXXXX").string();
	path_ = ::mkdtemp(pattern.data()) ? pattern : "";
	EXPECT_FALSE(path_.empty());
}

TempDir::~TempDir()
{
	std::error_code error;
	if (!path_.empty())
		std::filesystem::remove_all(path_, error);
}

Status record_image(const Image &image, const std::string &store, const std::string &boot)
{
	auto source = image_source(image);
	auto writer = StoreWriter::open(store);
	if (!writer)
		return writer.error();
	NoSymbols symbols;
	Recorder recorder(*source, *writer, symbols, {});
	LS_TRY_STATUS(recorder.attach("kmod", boot, "0123456789abcdef"));
	LS_TRY_STATUS(recorder.drain());
	LS_TRY_STATUS(recorder.snapshot());
	return recorder.set_finish(RunEnd::Finished);
}

void age_store(const std::string &store, int version)
{
	auto db = Database::open(store, Access::Write);
	ASSERT_TRUE(db.ok());
	std::string sql = "PRAGMA user_version = " + std::to_string(version) + ";";
	if (version < kModuleSchema)
		sql += "DROP TABLE module; DROP TABLE lock_site;";
	if (version < kDeathSchema)
		sql += "DROP TABLE death; DROP TABLE dead_context;";
	if (version < kTraceSchema)
		sql += "DROP TABLE trace;";
	if (version < kVerdictSchema)
		sql += "DROP TABLE verdict;";
	if (version < kSideSchema)
		sql += "DROP TABLE side; DROP TABLE stored;";
	if (version < kFinishSchema)
		sql += "ALTER TABLE run DROP COLUMN finish; ALTER TABLE run DROP COLUMN problem;";
	if (version < kStatSchema)
		sql += "DROP TABLE stat; DROP TABLE stat_site; DROP TABLE stat_total;";
	if (version < kAloneSchema)
		sql += "DROP TABLE pointee; DROP TABLE alone;";
	if (version < kAccessSchema)
		sql += "DROP TABLE data; DROP TABLE member; DROP TABLE access; DROP TABLE race;"
		       " DROP TABLE history;";
	if (version < 3)
		sql += "ALTER TABLE class DROP COLUMN type; DROP TABLE class_count;";
	if (version < 2)
		sql += "ALTER TABLE sight DROP COLUMN what; ALTER TABLE sight DROP COLUMN extra;";
	auto done = db->exec(sql);
	ASSERT_TRUE(done.ok()) << done.error().what;
}

Model model_of(const std::vector<const LogBuilder *> &runs)
{
	TempDir dir;
	std::vector<std::string> files;
	for (const auto *run : runs) {
		files.push_back(dir / (std::to_string(files.size()) + ".db"));
		auto recorded = record_image(run->image(), files.back(),
					     "boot-" + std::to_string(files.size()));
		EXPECT_TRUE(recorded.ok()) << (recorded ? "" : recorded.error().what);
	}
	auto model = load_stores(files);
	EXPECT_TRUE(model.ok()) << (model ? "" : model.error().what);
	return model ? std::move(*model) : Model{};
}

Model model_of(const LogBuilder &log)
{
	return model_of(std::vector<const LogBuilder *>{&log});
}

Finding only_finding(const Model &model)
{
	auto analysis = analyse(model);
	EXPECT_EQ(analysis.findings.size(), 1u);
	return analysis.findings.empty() ? Finding{} : analysis.findings.front();
}

const Filter *filter(const Finding &finding, const std::string &name)
{
	for (const auto &filter : finding.filters)
		if (filter.name == name)
			return &filter;
	return nullptr;
}

std::string slurp(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	return {std::istreambuf_iterator<char>(file), {}};
}

void spill(const std::string &path, const std::string &data)
{
	std::ofstream(path, std::ios::binary | std::ios::trunc)
		.write(data.data(), static_cast<std::streamsize>(data.size()));
}

} // namespace lockscope::test
