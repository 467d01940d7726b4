// SPDX-License-Identifier: GPL-2.0
/* stop: leave the module stopped, as another program may. */
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "abi.h"

int main(void)
{
	int fd = open("/dev/lockscope", O_RDWR);
	__u32 op = LS_CTL_STOP;

	if (fd < 0 || ioctl(fd, LS_IOC_CTL, &op)) {
		perror("stop");
		return 1;
	}
	return 0;
}
