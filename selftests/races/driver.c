// SPDX-License-Identifier: GPL-2.0
/* The same file, as a part of this module. */
#include "../modules/driver.c"
