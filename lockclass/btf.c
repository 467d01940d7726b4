// SPDX-License-Identifier: GPL-2.0
#include "btf.h"

#define MAGIC 0xeb9f
#define MAX_NESTING 8		/* of unnamed structures */

struct header {
	ls_u16 magic;
	ls_u8 version, flags;
	ls_u32 len;		/* of this header; the sections are counted from its end */
	ls_u32 type_off, type_len;
	ls_u32 str_off, str_len;
};

struct type {
	ls_u32 name;
	ls_u32 info;		/* members 0..23, kind 24..28, kind flag 31 */
	ls_u32 size_or_type;
};

struct member {
	ls_u32 name;
	ls_u32 type;
	ls_u32 offset;		/* in bits; with the kind flag, a bit field's size above 24 bits */
};

enum { KIND_STRUCT = 4, KIND_UNION = 5, NR_KINDS = 20 };

/* Bytes that follow a type: fixed, and for each of its members. */
static const ls_u8 fixed[NR_KINDS] = { [1] = 4, [3] = 12, [14] = 4, [17] = 4 };
static const ls_u8 each[NR_KINDS] = { [4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12 };

struct blob {
	const ls_u8 *types, *strings;
	ls_u32 type_len, str_len;
};

static bool same(const struct blob *b, ls_u32 name, const char *text)
{
	for (; name < b->str_len; name++, text++) {
		if (b->strings[name] != (ls_u8)*text)
			return false;
		if (!*text)
			return true;
	}
	return false;
}

static ls_u32 kind(const struct type *t)
{
	return t->info >> 24 & 0x1f;
}

static ls_u32 members(const struct type *t)
{
	return t->info & 0xffffff;
}

static bool is_aggregate(const struct type *t)
{
	return kind(t) == KIND_STRUCT || kind(t) == KIND_UNION;
}

/* The type at *@at, which is advanced; 0 at the end, or when the blob is malformed. */
static const struct type *next(const struct blob *b, ls_u64 *at)
{
	const struct type *t = (const struct type *)(b->types + *at);

	if (*at + sizeof(*t) > b->type_len || kind(t) >= NR_KINDS)
		return NULL;
	*at += sizeof(*t) + fixed[kind(t)] + (ls_u64)each[kind(t)] * members(t);
	return *at <= b->type_len ? t : NULL;
}

/* Type number @id; numbers begin with 1. */
static const struct type *by_id(const struct blob *b, ls_u32 id)
{
	const struct type *t = NULL;
	ls_u64 at = 0;
	ls_u32 i;

	for (i = 0; i < id; i++) {
		t = next(b, &at);
		if (!t)
			break;
	}
	return t;
}

static ls_u32 find_member(const struct blob *b, const struct type *t, const char *name, int nesting)
{
	const struct member *m = (const struct member *)(t + 1);
	ls_u32 i, bits, inner;

	for (i = 0; i < members(t); i++) {
		bits = t->info >> 31 ? m[i].offset & 0xffffff : m[i].offset;
		if (!m[i].name || same(b, m[i].name, "")) {
			const struct type *in = nesting ? by_id(b, m[i].type) : NULL;

			inner = in && is_aggregate(in) ? find_member(b, in, name, nesting - 1) : LS_BTF_NONE;
			if (inner != LS_BTF_NONE)
				return bits / 8 + inner;
		} else if (same(b, m[i].name, name)) {
			return bits % 8 || (t->info >> 31 && m[i].offset >> 24) ? LS_BTF_NONE : bits / 8;
		}
	}
	return LS_BTF_NONE;
}

/*
 * Struct or union @name in the blob @btf, which is described by *@b afterwards; NULL: none, or
 * no valid blob.
 */
static const struct type *find_type(struct blob *b, const void *btf, ls_size size, const char *name)
{
	const struct header *h = btf;
	const struct type *t;
	ls_u64 at = 0;

	if (size < sizeof(*h) || h->magic != MAGIC || h->len > size ||
	    (ls_u64)h->type_off + h->type_len > size - h->len ||
	    (ls_u64)h->str_off + h->str_len > size - h->len || (h->len | h->type_off) % 4)
		return NULL;
	b->types = (const ls_u8 *)btf + h->len + h->type_off;
	b->strings = (const ls_u8 *)btf + h->len + h->str_off;
	b->type_len = h->type_len;
	b->str_len = h->str_len;
	while ((t = next(b, &at)))
		if (is_aggregate(t) && members(t) && same(b, t->name, name))
			return t;
	return NULL;
}

ls_u32 ls_btf_offset(const void *btf, ls_size size, const char *type, const char *member)
{
	struct blob b;
	const struct type *t = find_type(&b, btf, size, type);

	return t ? find_member(&b, t, member, MAX_NESTING) : LS_BTF_NONE;
}

ls_u32 ls_btf_size(const void *btf, ls_size size, const char *type)
{
	struct blob b;
	const struct type *t = find_type(&b, btf, size, type);

	return t ? t->size_or_type : LS_BTF_NONE;
}
