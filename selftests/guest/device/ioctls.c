// SPDX-License-Identifier: GPL-2.0
/*
 * Every ioctl of the device with arguments that make sense, that nearly do and
 * that do not; numbers that are none of them.
 */
#include "operations.h"

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "abi.h"

static int call(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? errno : 0;
}

/* @bytes of an argument, where another thread may change them meanwhile, or elsewhere. */
static void *placed(struct worker *w, const void *argument, size_t bytes)
{
	unsigned char *to;

	switch (below(w, 8)) {
	case 0:
		return odd_pointer(w);
	case 1:		/* all of it, and not one byte more */
		to = w->edge - bytes;
		break;
	default:
		to = w->arena + below(w, ARENA_BYTES / 2) / 8 * 8;
	}
	memcpy(to, argument, bytes);
	return to;
}

/* Where results go: mostly room enough. */
static uint64_t room(struct worker *w)
{
	return below(w, 4) ? (uintptr_t)w->arena : (uintptr_t)odd_pointer(w);
}

static uint32_t few(struct worker *w)
{
	return (uint32_t)(below(w, 8) ? below(w, 256) : odd_number(w));
}

int op_info(struct worker *w)
{
	struct ls_info info = { 0 };

	return call(device(w), LS_IOC_INFO, placed(w, &info, sizeof(info)));
}

int op_chains(struct worker *w)
{
	struct ls_chains_req req = { .from = few(w), .nr = few(w), .buf = room(w) };

	return call(device(w), LS_IOC_CHAINS, placed(w, &req, sizeof(req)));
}

int op_prims(struct worker *w)
{
	struct ls_prims_req req = { .nr = few(w), .pad = few(w), .buf = room(w) };

	return call(device(w), LS_IOC_PRIMS, placed(w, &req, sizeof(req)));
}

int op_counts(struct worker *w)
{
	struct ls_counts_req req = { .from = few(w), .nr = few(w), .buf = room(w) };

	return call(device(w), LS_IOC_COUNTS, placed(w, &req, sizeof(req)));
}

int op_waits(struct worker *w)
{
	struct ls_waits_req req = { .nr = few(w), .buf = room(w) };

	return call(device(w), LS_IOC_WAITS, placed(w, &req, sizeof(req)));
}

/* Code, code with an offset, and what is none. */
int op_symbol(struct worker *w)
{
	struct ls_rec_symbol rec = { 0 };

	rec.ip = w->nr_code && below(w, 2) ? w->code[below(w, w->nr_code)] + below(w, 64) : odd_number(w);
	return call(device(w), LS_IOC_SYMBOL, placed(w, &rec, sizeof(rec)));
}

static int control(struct worker *w, uint32_t op)
{
	return call(device(w), LS_IOC_CTL, &op);
}

/* Mostly on, or nothing else would be tested. */
int op_stop_start(struct worker *w)
{
	int rc = control(w, LS_CTL_STOP), other = control(w, LS_CTL_START);

	return rc ? rc : other;
}

int op_flush(struct worker *w)
{
	return control(w, LS_CTL_FLUSH);
}

int op_reset(struct worker *w)
{
	return control(w, LS_CTL_RESET);
}

int op_odd_ctl(struct worker *w)
{
	uint32_t op = 4 + (uint32_t)odd_number(w);

	return op > 3 ? control(w, op) : 0;
}

int op_access_info(struct worker *w)
{
	struct ls_access_info info = { 0 };

	return call(device(w), LS_IOC_ACCESS_INFO, placed(w, &info, sizeof(info)));
}

int op_access_ctl(struct worker *w)
{
	struct ls_access_ctl ctl = {
		.mode = (uint32_t)below(w, 5),
		.share = below(w, 2) ? 1u << below(w, 20) : few(w),
		.epoch_ms = below(w, 2) ? (uint32_t)below(w, 1000) : few(w),
		.watchpoints = (uint32_t)below(w, 4),
	};

	return call(device(w), LS_IOC_ACCESS_CTL, placed(w, &ctl, sizeof(ctl)));
}

int op_access_counts(struct worker *w)
{
	struct ls_access_counts_req req = { .from = few(w), .nr = few(w), .buf = room(w) };

	return call(device(w), LS_IOC_ACCESS_COUNTS, placed(w, &req, sizeof(req)));
}

int op_follow(struct worker *w)
{
	struct ls_follow_req req = { .start = odd_number(w), .bytes = below(w, 2) ? few(w) : 0 };

	return call(device(w), LS_IOC_FOLLOW, placed(w, &req, sizeof(req)));
}

static uint8_t operand(struct worker *w)
{
	const uint64_t n = below(w, 20);

	return (uint8_t)(n < 16 ? n : n < 18 ? LS_BASE_NONE : n == 18 ? LS_BASE_RIP : below(w, 256));
}

/* Places of real code; what is said of their operands need not be true. */
static int sites_with(struct worker *w, uint32_t nr, bool far)
{
	struct ls_site *sites = (struct ls_site *)w->arena;
	struct ls_sites_req req = { .nr = nr, .buf = (uintptr_t)sites };
	uint32_t i;

	for (i = 0; i < nr && w->nr_code; i++) {
		sites[i] = (struct ls_site){
			.ip = w->code[below(w, w->nr_code)] + (below(w, 4) ? 0 : below(w, 16)),
			.disp = below(w, 4) ? (int64_t)below(w, 512) : (int64_t)odd_number(w),
			.base = (uint8_t)below(w, 16),
			.index = below(w, 2) ? LS_BASE_NONE : (uint8_t)below(w, 16),
			.scale = (uint8_t)(1u << below(w, 4)),
			.percpu = !below(w, 8),
			.size = (uint16_t)(1u << below(w, 4)),
			.op = (uint16_t)(1 + below(w, 3)),
		};
		if (far) {
			sites[i].disp = (int64_t)below(w, 1ul << 46);
			sites[i].index = LS_BASE_NONE;
		}
	}
	return call(device(w), LS_IOC_SITES, &req);
}

int op_sites(struct worker *w)
{
	return sites_with(w, (uint32_t)below(w, 9), false);
}

/* All is watched, and what is accessed lies where there may be no memory. */
int op_sites_far(struct worker *w)
{
	struct ls_access_ctl ctl = { .mode = 1 + LS_ACCESSES_ALL };
	int rc = call(device(w), LS_IOC_ACCESS_CTL, &ctl);

	return rc ? rc : sites_with(w, 16, true);
}

int op_sites_garbage(struct worker *w)
{
	struct ls_sites_req req = { .nr = few(w), .buf = room(w) };
	struct ls_site *sites = (struct ls_site *)w->arena;
	uint32_t i;

	for (i = 0; i < 16; i++) {
		sites[i] = (struct ls_site){
			.ip = odd_number(w), .disp = (int64_t)odd_number(w), .base = operand(w),
			.index = operand(w), .scale = (uint8_t)below(w, 10), .percpu = (uint8_t)below(w, 3),
			.size = (uint16_t)below(w, 70), .op = (uint16_t)below(w, 20),
		};
	}
	return call(device(w), LS_IOC_SITES, placed(w, &req, sizeof(req)));
}

int op_site_hits(struct worker *w)
{
	struct ls_sites_req req = { .nr = few(w), .buf = room(w) };

	return call(device(w), LS_IOC_SITE_HITS, placed(w, &req, sizeof(req)));
}

/* Any number at all, except those of others: the file system's. */
int op_any_ioctl(struct worker *w)
{
	unsigned long request = below(w, 2) ? _IOC(below(w, 4), LS_IOC_MAGIC, below(w, 256), below(w, 512))
					    : odd_number(w);

	if (_IOC_TYPE(request) == LS_IOC_MAGIC && _IOC_NR(request) == _IOC_NR(LS_IOC_CTL))
		request ^= 1u << 12;
	return call(device(w), request, odd_pointer(w));
}

/* A number that is valid with an argument that points anywhere. */
int op_known_odd_argument(struct worker *w)
{
	static const unsigned long known[] = {
		LS_IOC_INFO, LS_IOC_CHAINS, LS_IOC_PRIMS, LS_IOC_COUNTS, LS_IOC_WAITS, LS_IOC_SYMBOL,
		LS_IOC_ACCESS_INFO, LS_IOC_ACCESS_COUNTS, LS_IOC_FOLLOW, LS_IOC_SITES, LS_IOC_SITE_HITS,
		LS_IOC_CONFIRM, LS_IOC_CONFIRM_STATE,
	};

	return call(device(w), known[below(w, sizeof(known) / sizeof(known[0]))], odd_pointer(w));
}
