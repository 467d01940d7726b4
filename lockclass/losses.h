/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of losses: what found no room, or was not followed.
 *
 * value: part of the ABI, an index of the losses in struct ls_info or ls_access_info; rows
 *   are in its order.
 * stored: its name as a counter in stores and in the text of reports.
 */
#ifndef LOCKSCOPE_LOSSES_H
#define LOCKSCOPE_LOSSES_H

/*
 *   X(symbol, value, name, stored, unit)
 *
 * name: in debugfs and JSON.
 * unit: what is lost with each, of which a complete run may lack few only: ACQUISITIONS
 *   that are not judged, RECORDS, or DETAIL of findings, such as a stack, a name, a rank.
 */
#define LS_LOSSES(X)									\
	/* log full, or an event buffer stayed full */					\
	X(RECORDS,	 0, "records",	     "lost_records",   RECORDS)			\
	X(STACKS,	 1, "stacks",	     "lost_stacks",    DETAIL)			\
	X(CHAINS,	 2, "chains",	     "lost_chains",    ACQUISITIONS)		\
	X(CLASSES,	 3, "classes",	     "lost_classes",   ACQUISITIONS)		\
	X(EDGES,	 4, "edges",	     "lost_edges",     RECORDS)			\
	/* deeper than LS_MAX_DEPTH, no free context, or preempted before it was taken */ \
	X(HELD_OVERFLOW, 5, "held_overflow", "held_overflow",  ACQUISITIONS)		\
	/* hook re-entered itself */							\
	X(RECURSION,	 6, "recursion",     "recursion",      ACQUISITIONS)		\
	/* address table evicted a live entry */					\
	X(ADDRESSES,	 7, "addresses",     "lost_addresses", ACQUISITIONS)		\
	/* allocation sites not kept */							\
	X(SITES,	 8, "sites",	     "lost_sites",     DETAIL)			\
	/* instance pairs not kept */							\
	X(PAIRS,	 9, "pairs",	     "lost_pairs",     DETAIL)			\
	/* the module's searches that met a bound: too long, too many gates */		\
	X(CYCLES,	10, "cycles",	     "lost_cycles",    DETAIL)

/*
 * Why accesses were not judged; all of them make up "accesses" of the losses.
 *
 *   X(symbol, value, stored, why)
 *
 * why: words of the report.
 */
#define LS_ACCESS_LOSSES(X)								\
	X(PAGES,    0, "access_pages",	  "no shadow memory left")			\
	X(LOCKSETS, 1, "access_locksets", "too many sets of locks, or locks held")	\
	X(SITES,    2, "access_sites",	  "too many ways of accessing")			\
	X(BUSY,	    3, "access_busy",	  "inside the module itself, or in an NMI")	\
	/* a race or a way of accessing could not be reported at that time */		\
	X(EVENTS,   4, "access_events",	  "a buffer was full")				\
	X(RANGE,    5, "access_range",	  "rest of a block too long")			\
	X(PROBES,   6, "access_probes",	  "probe hits missed")

enum ls_loss {
#define LS_ROW(symbol, value, ...) LS_LOSS_##symbol = value,
	LS_LOSSES(LS_ROW)
#undef LS_ROW
	LS_NR_LOSSES
};

enum ls_access_loss {
#define LS_ROW(symbol, value, ...) LS_ALOSS_##symbol = value,
	LS_ACCESS_LOSSES(LS_ROW)
#undef LS_ROW
	LS_NR_ALOSSES
};

#endif /* LOCKSCOPE_LOSSES_H */
