/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_HRTIMER_H
#define LOCKSCOPE_WRAPPER_HRTIMER_H

#include <linux/hrtimer.h>

#include "features.h"

#ifndef LS_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
