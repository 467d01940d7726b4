// SPDX-License-Identifier: GPL-2.0
// Locks of a module that was built without BTF, by its debug information.
#include "symbolize/small_types.h"

#include "symbolize/class_field.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/// A module as the build leaves it: not linked, so its debug information needs relocation.
class Described {
public:
	Described() : dwfl_(dwfl_begin(&callbacks))
	{
		auto *file = dwfl_report_offline(dwfl_, "", MODULE_OBJECT, -1);
		dwfl_report_end(dwfl_, nullptr, nullptr);
		Dwarf_Addr bias = 0;
		dwarf = file ? dwfl_module_getdwarf(file, &bias) : nullptr;
	}
	~Described() { dwfl_end(dwfl_); }
	Described(const Described &) = delete;

	Dwarf *dwarf = nullptr;

private:
	static constexpr Dwfl_Callbacks callbacks = {dwfl_build_id_find_elf,
						     dwfl_standard_find_debuginfo,
						     dwfl_offline_section_address, nullptr};
	Dwfl *dwfl_;
};

ClassRecord lock_called(const std::string &name, ls_origin origin, std::uint32_t offset = 0,
			std::uint32_t size = 0)
{
	ClassRecord record;
	record.id = record.canonical = 1;
	record.kind = LS_KIND_SPINLOCK;
	record.origin = static_cast<std::uint8_t>(origin);
	record.offset = offset;
	record.object_size = size;
	record.module = "mod";
	record.name = name;
	return record;
}

} // namespace

class ModuleLocks : public SmallTypes {
protected:
	ModuleLocks()
	{
		std::filesystem::create_directories(modules / "mod");
		spill(modules / "mod/taint", "OE\n");
		std::filesystem::create_directories(modules / "ext4");
		spill(modules / "ext4/taint", "\n");
	}

	std::string path(const ClassRecord &record) { return classes.find(record).path; }
	void describe()
	{
		names.use_debug_information(
			[this](const std::string &module) {
				EXPECT_EQ(module, "mod") << "the kernel's own have BTF";
				return described.dwarf;
			},
			modules.path());
	}

	TempDir modules;
	Described described;
	ClassFields classes{names};
};

TEST_F(ModuleLocks, AreUnknownWithoutDebugInformation)
{
	EXPECT_EQ(path(lock_called("station_cache+0x8", LS_ORIGIN_SLAB, 8, 48)), "");
	EXPECT_EQ(path(lock_called("kmalloc-64+0x8 @ station_probe", LS_ORIGIN_ALLOC, 8, 64)), "");
	EXPECT_EQ(path(lock_called("&made->busy @ station_probe", LS_ORIGIN_INIT)), "");
}

TEST_F(ModuleLocks, OfSlabObjects)
{
	describe();
	EXPECT_EQ(path(lock_called("station_cache+0x8", LS_ORIGIN_SLAB, 8, 48)),
		  "struct station.busy");
	EXPECT_EQ(path(lock_called("station_cache+0x10", LS_ORIGIN_SLAB, 16, 48)),
		  "struct station.queue.inner");
	EXPECT_EQ(path(lock_called("other_cache+0x4", LS_ORIGIN_SLAB, 4, 48)), "");
}

/* By the variable that gets the memory, also in a function that was inlined. */
TEST_F(ModuleLocks, OfAllocatedObjects)
{
	describe();
	EXPECT_EQ(path(lock_called("kmalloc-64+0x8 @ station_probe", LS_ORIGIN_ALLOC, 8, 64)),
		  "struct station.busy");
	EXPECT_EQ(path(lock_called("kmalloc-64+0xc @ station_probe", LS_ORIGIN_ALLOC, 12, 64)), "")
		<< "there is no lock";
	EXPECT_EQ(path(lock_called("kmalloc-256+0x8 @ station_probe", LS_ORIGIN_ALLOC, 8, 256)), "")
		<< "too large for a station";
}

TEST_F(ModuleLocks, OfSeveralObjectsOfOneSize)
{
	describe();
	EXPECT_EQ(path(lock_called("kmalloc-64+0x8 @ yard_probe", LS_ORIGIN_ALLOC, 8, 64)),
		  "struct station.busy");
	EXPECT_EQ(path(lock_called("kmalloc-64+0x28 @ yard_probe", LS_ORIGIN_ALLOC, 40, 64)),
		  "struct shed.door");
	EXPECT_EQ(path(lock_called("kmalloc-64+0xc @ yard_probe", LS_ORIGIN_ALLOC, 12, 64)), "");
}

TEST_F(ModuleLocks, ByTheWordsThatInitialiseThem)
{
	describe();
	const auto of = [&](const char *words) { return path(lock_called(words, LS_ORIGIN_INIT)); };
	EXPECT_EQ(of("&made->busy @ station_probe"), "struct station.busy");
	EXPECT_EQ(of("&(made->busy) @ station_probe"), "struct station.busy");
	EXPECT_EQ(of("&one->queue.inner @ station_probe.isra.0 (role)"),
		  "struct station.queue.inner");
	EXPECT_EQ(of("&line->first->many[1] @ line_probe"), "struct station.many[]");
	EXPECT_EQ(of("&one->kernels->spin @ station_probe"), "struct both.spin")
		<< "a type of the kernel's";
	for (const char *unknown :
	     {"&one->number @ station_probe", "&one->absent @ station_probe",
	      "&nobody->busy @ station_probe", "&one->busy @ line_probe", "one @ station_probe",
	      "&one-> @ station_probe", "&one->many[1 @ station_probe",
	      "&f(one)->busy @ station_probe", " @ station_probe", "&->busy @ station_probe",
	      "&one.busy @ station_probe"})
		EXPECT_EQ(of(unknown), "") << unknown;
}

TEST_F(ModuleLocks, InVariables)
{
	describe();
	EXPECT_EQ(path(lock_called("mod:depot+0x8", LS_ORIGIN_STATIC)), "struct station.busy");
	EXPECT_EQ(path(lock_called("mod:depot+0x4", LS_ORIGIN_STATIC)), "");
}

/* Drivers have a static "lock" in each file. */
TEST_F(ModuleLocks, OfOneNameInSeveralFiles)
{
	describe();
	const auto of = [&](const char *name) { return path(lock_called(name, LS_ORIGIN_STATIC)); };
	EXPECT_EQ(of("mod:lock#1"), "(module_unit.c)");
	EXPECT_EQ(of("mod:lock#2"), "(module_other.c)");
	for (const char *unknown :
	     {"mod:lock", "mod:lock#3", "mod:lock#0", "mod:lock#", "other:lock#1"})
		EXPECT_EQ(of(unknown), "") << unknown;
}
