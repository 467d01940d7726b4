/* SPDX-License-Identifier: GPL-2.0 */
/* Attaching to tracepoints of the kernel that are not exported. */
#ifndef LOCKSCOPE_TRACEPOINT_H
#define LOCKSCOPE_TRACEPOINT_H

int ls_tracepoint_attach(const char *name, void *probe, void *data);
void ls_tracepoint_detach(const char *name, void *probe, void *data);

#endif /* LOCKSCOPE_TRACEPOINT_H */
