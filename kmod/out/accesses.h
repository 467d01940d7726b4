/* SPDX-License-Identifier: GPL-2.0 */
/* Memory accesses and races: the worker's half. */
#ifndef LOCKSCOPE_ACCESSES_H
#define LOCKSCOPE_ACCESSES_H

#include "check/access/race_side.h"

/* races.c: thread and process context */
int ls_races_init(void);
int ls_races_start(void);
void ls_races_stop(void);
void ls_access_info_fill(struct ls_access_info *info);
void ls_races_exit(void);
void ls_races_take(struct ls_event *e);
void ls_races_work(void);
bool ls_races_object(u32 id);
long ls_races_pause(void);
void ls_races_forget(void);
long ls_access_ioctl(const void *who, unsigned int cmd, void __user *arg);
bool ls_access_get(u32 id, struct ls_rec_access *a, struct ls_guard_rec *guards);

/* splat_race.c */
void ls_splat_race(const struct ls_race_event *e);

/* Thread. The sides of @e, whose race is in the log, with the guards of both. */
void ls_sides_log(struct ls_race_event *e, const struct ls_rec_access *const accesses[2],
		  const struct ls_guard_rec *const guards[2]);

#endif /* LOCKSCOPE_ACCESSES_H */
