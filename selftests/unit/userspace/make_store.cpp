// SPDX-License-Identifier: GPL-2.0
// make_store FILE [findings=N] [edges=N] [runs=N] [order=N] [without=N]: a store with that many
// faults and orders of locks, see store/large_store.h; prints what it has.
#include "store/large_store.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace lockscope::test;

namespace {

int usage()
{
	std::fprintf(stderr, "make_store: FILE [findings=N] [edges=N] [runs=N] [order=N]"
			     " [without=N]\n");
	return 2;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage();
	LargeStore wanted;
	for (int i = 2; i < argc; i++) {
		const std::string word = argv[i];
		const auto equals = word.find('=');
		const std::string name = word.substr(0, equals);
		const auto value = static_cast<std::uint32_t>(
			equals == word.npos ? 0
					    : std::strtoul(word.c_str() + equals + 1, nullptr, 10));
		if (name == "findings" && value <= 1000000)
			wanted.findings = value;
		else if (name == "edges" && value <= 10000000)
			wanted.edges = value;
		else if (name == "runs" && value >= 1 && value <= 16)
			wanted.runs = value;
		else if (name == "order")
			wanted.order = value;
		else if (name == "without")
			wanted.without = value;
		else
			return usage();
	}
	auto made = write_large_store(argv[1], wanted);
	if (!made) {
		std::fprintf(stderr, "make_store: %s\n", made.error().what.c_str());
		return 3;
	}
	std::printf("findings %llu\nedges %llu\nclasses %llu\nobservations %llu\nstacks %llu\n",
		    static_cast<unsigned long long>(made->findings),
		    static_cast<unsigned long long>(made->edges),
		    static_cast<unsigned long long>(made->classes),
		    static_cast<unsigned long long>(made->observations),
		    static_cast<unsigned long long>(made->stacks));
	return 0;
}
