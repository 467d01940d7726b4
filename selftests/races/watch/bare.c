// SPDX-License-Identifier: GPL-2.0
/* Sides of thread b that are built like any other code: a watchpoint alone sees them. */
#include <linux/compiler.h>

#include "watch.h"

#define __side noinline __noclone

static __side u32 watch_look_bare(void)
{
	return watch_look.x;
}

static __side void watch_unsure_bare(void)
{
	WRITE_ONCE(watch_unsure, 42);
}

static __side void watch_origin_bare(void)
{
	watch_origin.x++;
}

static __side void watch_beside_bare(void)
{
	watch_beside.y++;
}

void watch_bare_all(void)
{
	watch_use(watch_look_bare());
	watch_unsure_bare();
	watch_origin_bare();
	watch_beside_bare();
}
