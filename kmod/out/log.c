// SPDX-License-Identifier: GPL-2.0
/*
 * The log: everything that was recorded, as an append-only stream of records (abi.h). One
 * writer, the worker; any number of readers, which see nothing beyond the published length.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "base/memory.h"
#include "core/state.h"
#include "out/out.h"

#define SEG_BITS 18
#define SEG_BYTES (1ul << SEG_BITS)
#define MOST_READ (4ul << 20)	/* bytes at a time */

static u8 **segs;
static u32 nr_segs;
static u64 length;
static u64 refused, written;	/* records: rejected for lack of room, and in the log */
DECLARE_WAIT_QUEUE_HEAD(ls_log_wait);

u64 ls_log_len(void)
{
	return ls_load_acquire(&length);
}

static bool room(u64 end)
{
	u32 seg;

	if (end > (u64)nr_segs << SEG_BITS)
		return false;
	for (seg = length >> SEG_BITS; (u64)seg << SEG_BITS < end; seg++) {
		if (!segs[seg])
			segs[seg] = ls_zalloc(SEG_BYTES);
		if (!segs[seg])
			return false;
	}
	return true;
}

static void put(u64 at, const u8 *from, size_t len)
{
	while (len) {
		size_t part = min_t(size_t, len, SEG_BYTES - (at & (SEG_BYTES - 1)));

		memcpy(segs[at >> SEG_BITS] + (at & (SEG_BYTES - 1)), from, part);
		at += part;
		from += part;
		len -= part;
	}
}

/*
 * Append one record of two parts (the second may be empty); the lengths add up
 * to a multiple of 8. *at gets its offset. False, and a counted loss, when the
 * log is full. Worker only.
 */
bool ls_log_append(const void *a, size_t a_len, const void *b, size_t b_len, u64 *at)
{
	u64 start = length;

	lockdep_assert_held(&ls_work_mutex);
	if (!room(start + a_len + b_len)) {
		ls_log_refuse();
		return false;
	}
	put(start, a, a_len);
	put(start + a_len, b, b_len);
	if (at)
		*at = start;
	ls_store_release(&length, start + a_len + b_len);
	WRITE_ONCE(written, written + 1);
	return true;
}

/* Count a record that could not be logged. Worker only. */
void ls_log_refuse(void)
{
	ls_lose(LS_LOSS_RECORDS);
	WRITE_ONCE(refused, refused + 1);
}

/* Number of records that should be in the log, and that are. The difference is lost. */
void ls_log_info(u64 *to_be, u64 *are)
{
	/* An append changes a single word, so a concurrent reader sees no false loss. */
	*are = READ_ONCE(written);
	*to_be = *are + READ_ONCE(refused);
}

/* Copy out of the log. False when it does not reach that far. */
bool ls_log_read(u64 at, void *to, size_t len)
{
	u8 *out = to;

	if (at + len > ls_log_len())
		return false;
	while (len) {
		size_t part = min_t(size_t, len, SEG_BYTES - (at & (SEG_BYTES - 1)));

		memcpy(out, segs[at >> SEG_BITS] + (at & (SEG_BYTES - 1)), part);
		at += part;
		out += part;
		len -= part;
	}
	return true;
}

/*
 * Whole records from offset @at, as many as fit in @len and MOST_READ. 0 at the end; -EINVAL
 * when @at is beyond it or is no record boundary; -ENOSPC when not even one
 * record fits.
 */
ssize_t ls_log_copy_to_user(char __user *buf, size_t len, loff_t at)
{
	u64 end = ls_log_len(), pos = at, stop = at;
	struct ls_rec hdr;

	if (at < 0 || pos > end || pos & 7)
		return -EINVAL;
	len = min(len, MOST_READ);
	while (stop < end) {
		if (!ls_log_read(stop, &hdr, sizeof(hdr)) || hdr.len < sizeof(hdr) || hdr.len & 7 ||
		    stop + hdr.len > end)
			return -EINVAL;
		if (stop + hdr.len - pos > len)
			break;
		stop += hdr.len;
		cond_resched();
	}
	if (stop == pos)
		return pos < end ? -ENOSPC : 0;
	for (; pos < stop;) {
		size_t part = min_t(u64, stop - pos, SEG_BYTES - (pos & (SEG_BYTES - 1)));

		if (copy_to_user(buf + (pos - at), segs[pos >> SEG_BITS] + (pos & (SEG_BYTES - 1)), part))
			return -EFAULT;
		pos += part;
	}
	return stop - at;
}

/* Where the log is. */
void ls_log_anchor(struct ls_anchor *a)
{
	a->log_length = (u64)&length;
	a->log = (struct ls_anchor_array){ (u64)segs, SEG_BYTES, nr_segs };
}

int ls_log_init(u32 megabytes)
{
	nr_segs = clamp(megabytes, 1u, 4096u) << (20 - SEG_BITS);
	length = refused = written = 0;
	segs = ls_zalloc(array_size(nr_segs, sizeof(*segs)));
	return segs ? 0 : -ENOMEM;
}

void ls_log_exit(void)
{
	u32 i;

	for (i = 0; segs && i < nr_segs; i++)
		ls_free(segs[i]);
	ls_free(segs);
}
