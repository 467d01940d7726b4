// SPDX-License-Identifier: GPL-2.0
#include "types_unit.h"

struct sample sample;
int number;

int types_of_unit(void)
{
	static volatile struct inner local;

	sample.flag = 1;
	local.first = number = 1;
	return local.first;
}
