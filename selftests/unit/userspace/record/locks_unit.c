// SPDX-License-Identifier: GPL-2.0
// Calls of lock primitives, as a module has them.
extern void mutex_lock(void *lock);
extern void mutex_unlock(void *lock);
extern int mutex_trylock(void *lock);
extern void _raw_spin_lock(void *lock);
extern void _raw_spin_unlock(void *lock);

int use(void *a, void *b)
{
	int taken;

	_raw_spin_lock(a);
	taken = mutex_trylock(b);
	_raw_spin_unlock(a);
	return taken + 1;
}

__attribute__((section(".init.text"))) int begin(void *a)
{
	mutex_lock(a);
	mutex_unlock(a);
	return 0;
}
