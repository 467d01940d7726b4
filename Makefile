# SPDX-License-Identifier: GPL-2.0
# The commands of the project. Everything made goes to out/.

PREFIX ?= /usr/local
DESTDIR ?=
RELEASE = $(or $(LOCKSCOPE_RELEASE),$(shell scripts/kernel-release))
JOBS ?= $(shell nproc)

all: programs modules

programs:
	@scripts/build-programs

modules:
	@scripts/build-kmod

# Installs what is missing, builds, shows the tool at work in a VM.
demo:
	@scripts/deps vm demo
	@echo "Building the programs and the modules for kernel $(RELEASE), quietly: about 5 minutes on"
	@echo "two CPUs the first time, seconds later; 1.2 GB in out/"
	@$(MAKE) --no-print-directory all
	@scripts/demo

# Installs what is missing, builds, runs every test.
check:
	@scripts/deps vm test bench
	@$(MAKE) --no-print-directory all
	@scripts/check

# What the hooks cost, in guests; how long the search for cycles takes.
bench:
	@scripts/deps vm bench
	@$(MAKE) --no-print-directory all
	@scripts/bench
	@scripts/build-programs bench
	@out/build/bench/bin/bench_cycles

fuzz:
	@scripts/deps fuzz
	@scripts/fuzz

install: all install-programs install-headers
	install -D -m 644 -t $(DESTDIR)/lib/modules/$(RELEASE)/updates out/kmod/$(RELEASE)/lockscope.ko
	[ -n "$(DESTDIR)" ] || depmod $(RELEASE)

# Parts, for packages; what they take is built. Where the distribution wants units and zsh's
# functions.
UNITS ?= $(PREFIX)/lib/systemd/system
ZSH ?= $(PREFIX)/share/zsh/site-functions
install-programs:
	install -D -t $(DESTDIR)$(PREFIX)/bin out/bin/lockscope out/bin/lockscoped
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/lockscope/annotations userspace/annotations/tables/*.txt
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/lockscope/monitoring userspace/lockscoped/monitoring/*
	install -d $(DESTDIR)$(PREFIX)/share $(DESTDIR)$(UNITS)
	cp -r --no-preserve=ownership out/share/man out/share/bash-completion out/share/fish $(DESTDIR)$(PREFIX)/share/
	install -D -m 644 -t $(DESTDIR)$(ZSH) out/share/zsh/site-functions/*
	sed 's|/usr/bin/|$(PREFIX)/bin/|' userspace/lockscoped/lockscoped.service > $(DESTDIR)$(UNITS)/lockscoped.service
	chmod 644 $(DESTDIR)$(UNITS)/lockscoped.service

install-headers:
	install -D -m 644 kmod/annotate.h $(DESTDIR)$(PREFIX)/include/lockscope/annotate.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/lockscope kmod/call-outs.symvers

# The module's source for DKMS; then dkms install lockscope/VERSION.
DKMS_VERSION = $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' kmod/dkms.conf)
install-dkms:
	install -D -m 644 kmod/dkms.conf $(DESTDIR)/usr/src/lockscope-$(DKMS_VERSION)/dkms.conf
	cp -r kmod lockclass $(DESTDIR)/usr/src/lockscope-$(DKMS_VERSION)/

# Debian packages, to out/deb.
deb:
	@scripts/deps deb
	@scripts/deb

clean:
	rm -rf out

.PHONY: all programs modules demo check bench fuzz install install-programs install-headers install-dkms deb clean
