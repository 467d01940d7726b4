/* SPDX-License-Identifier: GPL-2.0 */
/* Types and variables whose debug information the tests read. */
#ifndef TYPES_UNIT_H
#define TYPES_UNIT_H

struct inner {
	int first;
	union {
		long whole;
		struct {
			int low, high;
		};
	};
};

struct sample {
	char head[4];
	struct inner slots[3];
	unsigned int flag : 3, mode : 7;
	const volatile int *at;
};

#endif
