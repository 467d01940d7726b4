/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_TRACEPOINT_H
#define LOCKSCOPE_WRAPPER_TRACEPOINT_H

#include <linux/preempt.h>
#include <linux/tracepoint.h>

#include "base/preempt.h"
#include "features.h"

/*
 * Bracket the per-CPU part of a handler. LS_TRACEPOINT_PREEMPT: preemption levels that the
 * tracepoint itself has disabled.
 */
#ifdef LS_HAVE_TRACEPOINT_PREEMPTIBLE
#define LS_TRACEPOINT_PREEMPT 0
#define ls_tracepoint_enter() preempt_disable_notrace()
#define ls_tracepoint_leave() ls_leave()
#else
#define LS_TRACEPOINT_PREEMPT 1
#define ls_tracepoint_enter() do { } while (0)
#define ls_tracepoint_leave() do { } while (0)
#endif

#endif
