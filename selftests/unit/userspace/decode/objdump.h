// SPDX-License-Identifier: GPL-2.0
// What objdump says of the instructions of a file, understood without the decoder
// under test: operands by their text, reads and writes by a table of mnemonics.
#pragma once

#include "decode/access.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace lockscope::test {

struct DumpedInstruction {
	std::uint8_t length = 0;
	std::string text; ///< as objdump prints it, without its comment
};

/// By section number and address.
using Dump = std::map<std::size_t, std::map<std::uint64_t, DumpedInstruction>>;

/// Everything of the file that objdump takes for code; nothing when it cannot be run.
std::optional<Dump> run_objdump(const std::string &path);

struct Expected {
	Instruction::Memory memory = Instruction::Memory::None;
	AccessSite site;
	Unsupported why = Unsupported::Undecodable;
	std::string unknown; ///< what this parser does not know; a failure of the test
};

/// What the text means.
Expected expect(const DumpedInstruction &instruction, bool frame_pointer);

} // namespace lockscope::test
