// SPDX-License-Identifier: GPL-2.0
/*
 * Register maps: the mutex of each is initialised at one place for all drivers, but
 * lockdep has a key for each place that makes maps.
 */
#include <linux/mutex.h>
#include <linux/regmap.h>

#include "roles.h"

/* A map's own lock is held while a register is written. */
#define ROLE_MAP(name, second)							\
static DEFINE_MUTEX(name##_l);							\
										\
static __side int name##_write(void *lock, unsigned int reg, unsigned int val)	\
{										\
	if (lock) {								\
		mutex_lock(lock);						\
		mutex_unlock(lock);						\
	}									\
	return 0;								\
}										\
										\
static const struct regmap_config name##_config = {				\
	.reg_bits = 8, .val_bits = 8, .reg_write = name##_write,		\
};										\
										\
static __side struct regmap *name##_first(struct mutex *lock)			\
{										\
	struct regmap *map = regmap_init(NULL, NULL, lock, &name##_config);	\
										\
	return IS_ERR(map) ? NULL : map;					\
}										\
										\
static __side struct regmap *name##_second(struct mutex *lock)			\
{										\
	struct regmap *map = regmap_init(NULL, NULL, lock, &name##_config);	\
										\
	return IS_ERR(map) ? NULL : map;					\
}										\
										\
static struct regmap *name##_new(int which)					\
{										\
	return which == 2 ? name##_second(NULL) : name##_first(which ? NULL : &name##_l);	\
}										\
ROLE_PAIR(name, struct regmap, name##_new, regmap_exit, 0, second)		\
										\
static __side void name##_ol(void)						\
{										\
	ls_require(!regmap_write(name##_of[0], 0, 0));				\
}										\
										\
static __side void name##_lo(void)						\
{										\
	mutex_lock(&name##_l);							\
	ls_require(!regmap_write(name##_of[1], 0, 0));				\
	mutex_unlock(&name##_l);						\
}

ROLE_MAP(role_map, 1)
ROLE_MAP(role_map_ok, 2)

const struct ls_case verdict_regmap_cases[] = {
	ROLE_CASE(role_map, LS_FAULT, "two register maps of one driver in both orders with a mutex",
		  "role_map_l role_map_first"),
	ROLE_CASE(role_map_ok, LS_TWIN, "register maps of two drivers", "role_map_ok_l"),
	{ }
};
