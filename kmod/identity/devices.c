// SPDX-License-Identifier: GPL-2.0
/*
 * Classes of devices. The mutex of each struct device has one initialiser, and lockdep does
 * not validate it. Here its class is made of bus or class, type and depth in the device tree:
 * "usb/usb_interface depth 4". The driver core acquires a parent's mutex before its child's,
 * which is then a dependency between two classes like any other; of two devices of one class
 * none is an ancestor of the other. Likewise the driver core's own data of a bus or a class of
 * devices is named as lockdep's keys have it.
 *
 * Any context: reads the kernel's structures, takes no lock. What a device refers to may be
 * gone: a driver's bus with its module, the parent after device_del().
 */
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/mutex.h>

#include "base/lookup.h"
#include "hash.h"
#include "identity/refine.h"

#define MAX_DEPTH 32		/* depth is counted up to this */
#define MAX_NAME 20		/* of each name of a device: fits "thunderbolt_retimer" */

/* The kset of all devices, which device_initialize() sets. */
static struct kset **devices;

void ls_devices_init(void)
{
	devices = (struct kset **)ls_symbol("devices_kset");
}

/* Word at @from, 0 when it cannot be read. Unlike in ls_word_at(), @from may be any value. */
static unsigned long word_at(const void *from)
{
	unsigned long word;

	return get_kernel_nofault(word, (const unsigned long *)from) ? 0 : word;
}

static bool is_device(const struct device *dev)
{
	unsigned long kset = word_at(&dev->kobj.kset);

	return kset && devices && kset == (unsigned long)READ_ONCE(*devices);
}

bool ls_is_device_mutex(unsigned long lock)
{
	return is_device(container_of((struct mutex *)lock, struct device, mutex));
}

struct text {
	u32 len;
	char chars[LS_ROLE_LEN];
};

static void put(struct text *text, char c)
{
	if (text->len + 1 < sizeof(text->chars))
		text->chars[text->len++] = c;
}

static void put_string(struct text *text, const char *string)
{
	while (*string)
		put(text, *string++);
}

/* Append the name at @name, up to @max characters; it may not be mapped. */
static bool put_name(struct text *text, unsigned long name, u32 max)
{
	u32 i;
	char c;

	for (i = 0; i < max; i++) {
		if (get_kernel_nofault(c, (const char *)name + i) || !c)
			break;
		put(text, c);
	}
	return i;
}

/* Append the depth of @dev in the tree. A parent that is no device any more has been freed. */
static void put_depth(struct text *text, const struct device *dev)
{
	u32 depth;

	put_string(text, " depth ");
	for (depth = 0; depth < MAX_DEPTH; depth++) {
		dev = (const struct device *)word_at(&dev->parent);
		if (!dev)
			break;
		if (!is_device(dev)) {
			put(text, '?');
			return;
		}
	}
	if (depth >= 10)
		put(text, '0' + depth / 10);
	put(text, '0' + depth % 10);
}

/*
 * Describe the device at @dev. Empty while it is unknown: its creator may use it before it is
 * added.
 */
static void describe(const struct device *dev, struct text *text)
{
	unsigned long bus = word_at(&dev->bus), class = word_at(&dev->class), type = word_at(&dev->type);
	unsigned long name = 0;
	bool any;

	text->len = 0;
	if (!is_device(dev))
		return;
	if (bus)
		name = word_at(&((const struct bus_type *)bus)->name);
	else if (class)
		name = word_at(&((const struct class *)class)->name);
	any = name && put_name(text, name, MAX_NAME);
	name = type ? word_at(&((const struct device_type *)type)->name) : 0;
	if (name) {
		if (any)
			put(text, '/');
		any |= put_name(text, name, MAX_NAME);
	}
	if (!any) {
		if (!bus && !class && !dev->kobj.state_in_sysfs && !dev->kobj.state_remove_uevent_sent)
			return;
		put_string(text, "no bus");
	}
	put_depth(text, dev);
}

/* Hash of @text; 0 only if it is empty. */
static u64 number_of(const struct text *text)
{
	u64 number = 0;
	u32 i;

	for (i = 0; i < text->len; i++)
		number = ls_mix(number + (u8)text->chars[i]);
	return text->len ? number | 1 : 0;
}

static void copy(const struct text *text, char *role)
{
	memcpy(role, text->chars, text->len);
	role[text->len] = 0;
}

u64 ls_role_of_device(u64 dev)
{
	struct text text;

	describe((const struct device *)dev, &text);
	return number_of(&text);
}

void ls_describe_device(u64 dev, char *role)
{
	struct text text;

	describe((const struct device *)dev, &text);
	copy(&text, role);
}

/* Its private data begin with a kset, which has its name. */
static void describe_subsystem(u64 subsystem, struct text *text)
{
	text->len = 0;
	put_name(text, word_at(&((const struct kset *)subsystem)->kobj.name), LS_ROLE_LEN - 1);
}

u64 ls_role_of_subsystem(u64 subsystem)
{
	struct text text;

	describe_subsystem(subsystem, &text);
	return number_of(&text);
}

void ls_describe_subsystem(u64 subsystem, char *role)
{
	struct text text;

	describe_subsystem(subsystem, &text);
	copy(&text, role);
}
