// SPDX-License-Identifier: GPL-2.0
// Fuzz target: bytes as what contexts do with locks and memory, on the shadow of
// memory against Eraser with all it ever saw. Anything that Eraser does not bear
// out, or that got lost with room for it, aborts.
//
// The first byte picks the mode; then one operation a byte pair.
#include <cstdio>
#include <cstdlib>

#include "shadow_program.h"

using namespace lockscope::test;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	ShadowProgram program;

	if (!size)
		return 0;
	const ShadowMode mode{.pass_on = (data[0] & 1) != 0,
			      .ordered = (data[0] & 2) != 0,
			      .tight = (data[0] & 4) != 0};
	// What Eraser remembers grows; a few hundred operations reach every state.
	for (std::size_t i = 1; i + 1 < size && i < 800; i += 2)
		program.push_back(shadow_op(data[i], data[i + 1]));
	const std::string wrong = disagreement(program, mode);
	if (!wrong.empty()) {
		std::fprintf(stderr, "fuzz_shadow: %s\n%s", wrong.c_str(),
			     to_text(program).c_str());
		std::abort();
	}
	return 0;
}
