/* SPDX-License-Identifier: GPL-2.0 */
/* Observations as evidence of a cycle. Worker only. */
#ifndef LOCKSCOPE_EVIDENCE_H
#define LOCKSCOPE_EVIDENCE_H

#include <linux/types.h>

#include "abi.h"

#define LS_WANTED_OBSERVATIONS 64	/* observations kept per dependency: first and latest */

/* wanted.c */
u32 ls_wanted_add(u32 from, u32 to);
void ls_wanted_gated(u32 from, u32 to);
void ls_wanted_uses(u32 id);
void ls_wanted_work(u32 nr, bool all);
bool ls_wanted_pending(void);
const u32 *ls_wanted_observations(u32 number, u32 *nr);
void ls_wanted_forget(u32 nr);
int ls_wanted_init(void);
void ls_wanted_exit(void);

/* claims.c */
bool ls_claims_take(const struct ls_rec_sight *s, const struct ls_held_rec *held, u64 of);
bool ls_claims_again(bool now);
void ls_claims_forget(void);

/* evidence.c */
void ls_evidence_cycle(u32 kind, const struct ls_finding_edge *edges, u32 nr);
void ls_evidence_work(u32 nr, bool all);
u32 ls_evidence_unproven(void);
void ls_evidence_forget(u32 nr);
int ls_evidence_init(void);
void ls_evidence_exit(void);
void ls_evidence_noted(u32 number);

/* states.c */
bool ls_states_keep(const struct ls_finding_edge *edges, u32 nr_observations);
void ls_states_take(const struct ls_rec_sight *s, u32 ordinal);
u32 ls_states_unproven(void);
void ls_states_forget(void);
int ls_states_init(void);
void ls_states_exit(void);

#endif /* LOCKSCOPE_EVIDENCE_H */
