// SPDX-License-Identifier: GPL-2.0
/*
 * count_records BYTES: reads the module's log from its beginning and prints "records TYPE
 * COUNT" for each type (enum ls_rec_type) there is, "stored TYPE COUNT" for those in the
 * first BYTES of it, "records all COUNT" and "bytes N". Independent of what the module
 * says about itself. Exits 1 when the log is malformed, 2 when no BYTES are given.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi.h"

int main(int argc, char **argv)
{
	static unsigned char buffer[1 << 20];
	unsigned long long counts[256] = { 0 }, stored[256] = { 0 }, all = 0;
	off_t upto = argc == 2 ? (off_t)strtoull(argv[1], NULL, 10) : 0;
	int fd = open("/dev/lockscope", O_RDONLY), i;
	off_t at = 0;
	ssize_t n;

	if (!upto) {
		fprintf(stderr, "usage: count_records BYTES\n");
		return 2;
	}
	if (fd < 0) {
		fprintf(stderr, "count_records: /dev/lockscope: %s\n", strerror(errno));
		return 3;
	}
	while ((n = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		ssize_t pos = 0;

		while (pos < n) {
			const struct ls_rec *rec = (const struct ls_rec *)(buffer + pos);

			if (rec->len < sizeof(*rec) || rec->len % 8 || pos + (ssize_t)rec->len > n)
				return 1;
			counts[rec->type & 255]++;
			stored[rec->type & 255] += at + pos + (off_t)rec->len <= upto;
			all++;
			pos += rec->len;
		}
		at += n;
	}
	if (n < 0)
		return 1;
	for (i = 0; i < 256; i++)
		if (counts[i])
			printf("records %d %llu\nstored %d %llu\n", i, counts[i], i, stored[i]);
	printf("records all %llu\nbytes %llu\n", all, (unsigned long long)at);
	return 0;
}
