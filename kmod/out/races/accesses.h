/* SPDX-License-Identifier: GPL-2.0 */
/* Memory accesses and races: the worker's half. */
#ifndef LOCKSCOPE_OUT_RACES_H
#define LOCKSCOPE_OUT_RACES_H

#include "check/access/race_side.h"

/* races.c */
int ls_races_init(void);
int ls_races_start(void);
void ls_races_stop(void);
void ls_races_exit(void);
void ls_races_take(struct ls_event *e);
void ls_races_work(void);
void ls_races_forget(void);
u32 ls_races_count(void);
bool ls_access_get(u32 id, struct ls_rec_access *a, struct ls_guard_rec *guards);
extern uint ls_shadow_mb;

/* data.c */
u32 ls_data_id(const struct ls_access_object *o, u32 *offset);
bool ls_races_object(u32 id);
void ls_data_forget(void);
int ls_data_init(void);
void ls_data_exit(void);

/* epochs.c */
extern char *ls_accesses;
extern uint ls_access_share, ls_access_epoch_ms;
int ls_epochs_start(void);
void ls_epochs_stop(void);
void ls_epochs_work(void);
void ls_epochs_forget(void);
int ls_epochs_set(const struct ls_access_ctl *ctl);
long ls_races_pause(void);
void ls_access_info_fill(struct ls_access_info *info);

/* sides.c */
/* Log the sides of @e, whose race is in the log, with the guards of both. */
void ls_sides_log(struct ls_race_event *e, const struct ls_rec_access *const accesses[2],
		  const struct ls_guard_rec *const guards[2]);

#endif /* LOCKSCOPE_OUT_RACES_H */
