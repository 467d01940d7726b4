// SPDX-License-Identifier: GPL-2.0
/*
 * Terminals, distinguished by their driver: master and slave of pseudo terminals, which are
 * one structure and one driver's code, have drivers of two types.
 */
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/tty.h>

#include "roles.h"

enum { ROLE_MASTER, ROLE_SLAVE };

/* One end of a pseudo terminal, kept by a master that is open. */
struct role_end {
	struct file *master;
	struct tty_struct *tty;
};

static struct role_end *role_end_new(int which)
{
	struct role_end *end = kzalloc(sizeof(*end), GFP_KERNEL);
	struct tty_struct *tty;

	if (!end)
		return NULL;
	end->master = filp_open("/dev/ptmx", O_RDWR | O_NOCTTY, 0);
	if (IS_ERR(end->master)) {
		kfree(end);
		return NULL;
	}
	tty = ((struct tty_file_private *)end->master->private_data)->tty;
	end->tty = which == ROLE_SLAVE ? tty->link : tty;
	return end;
}

static void role_end_free(struct role_end *end)
{
	filp_close(end->master, NULL);
	kfree(end);
}

#define role_termios(end) (&(end)->tty->termios_rwsem)
#define role_buffer(end) (&(end)->tty->port->buf.lock)

static DEFINE_MUTEX(role_tty_l);
static DEFINE_MUTEX(role_tty_ok_l);
ROLE_PAIR(role_tty, struct role_end, role_end_new, role_end_free, ROLE_SLAVE, ROLE_SLAVE)
ROLE_PAIR(role_tty_ok, struct role_end, role_end_new, role_end_free, ROLE_MASTER, ROLE_SLAVE)
ROLE_SIDES(role_tty, down_write, up_write, role_termios, mutex_lock, mutex_unlock)
ROLE_SIDES(role_tty_ok, down_write, up_write, role_termios, mutex_lock, mutex_unlock)

static DEFINE_MUTEX(role_port_l);
static DEFINE_MUTEX(role_port_ok_l);
ROLE_PAIR(role_port, struct role_end, role_end_new, role_end_free, ROLE_SLAVE, ROLE_SLAVE)
ROLE_PAIR(role_port_ok, struct role_end, role_end_new, role_end_free, ROLE_MASTER, ROLE_SLAVE)
ROLE_SIDES(role_port, mutex_lock, mutex_unlock, role_buffer, mutex_lock, mutex_unlock)
ROLE_SIDES(role_port_ok, mutex_lock, mutex_unlock, role_buffer, mutex_lock, mutex_unlock)

const struct ls_case verdict_terminals_cases[] = {
	ROLE_CASE(role_tty, LS_FAULT, "two slaves of pseudo terminals in both orders with a mutex",
		  "role_tty_l termios_rwsem driver"),
	ROLE_CASE(role_tty_ok, LS_TWIN, "a master outside, a slave inside", "role_tty_ok_l"),
	ROLE_CASE(role_port, LS_FAULT, "buffers of two slaves in both orders with a mutex",
		  "role_port_l driver"),
	ROLE_CASE(role_port_ok, LS_TWIN, "a master's buffer outside, a slave's inside", "role_port_ok_l"),
	{ }
};
