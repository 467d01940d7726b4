// SPDX-License-Identifier: GPL-2.0
/* Another one of the kind, loaded when the start of the first is over. */
#include "ls_late.c"
