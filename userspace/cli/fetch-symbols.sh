#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# fetch-symbols WORK LISTS PACKAGE... -- MODULE...: downloads the first of these packages that
# apt knows to the folder WORK, and unpacks the files of these modules, of which "vmlinux" is
# one, to WORK/root. Nothing is installed, and no root is needed. LISTS is a folder of apt's as
# fetch-kernel has it, for packages that this machine's own lists do not have. Progress goes to
# descriptor 3.
#
# WORK/package gets the package's name and version, WORK/modules the names of all modules in it.
# After a failure, exit status 3, WORK/error has two lines: what is wrong, and a hint. 130 after
# SIGINT or SIGTERM. The caller removes WORK.
set -u
export LC_ALL=C

work=$1 lists=$2 packages=
shift 2
while [ "$1" != -- ]; do
	packages="$packages $1"
	shift
done
shift
cd "$work" || exit 3

fail() {
	printf '%s\n%s\n' "$1" "$2" > error
	exit 3
}

# In a session of its own, so that all of it ends with a signal, and at once: the shell itself
# acts on signals between commands only.
child=
trap '[ -z "$child" ] || { kill -- "-$child"; wait "$child"; } 2> /dev/null; exit 130' INT TERM HUP
run() {
	setsid "$@" > log 2>&1 &
	child=$!
	wait "$child"
	set -- $?
	child=
	return "$1"
}

# What the tool that failed said.
reason() {
	awk '/^E: / { error = $0; exit }
		!/^[WN]: |: Not found in archive$|[Ee]xit(ing|ed)? / { error = $0 }
		END { print error }' log
}

no_space() {
	fail "the disk is full: $package needs about $((needed / 1024)) MiB in ${work%/*}" \
		"free some space, or set XDG_CACHE_HOME to a folder on another disk"
}

for tool in apt-get apt-cache dpkg-deb; do
	command -v $tool > /dev/null ||
		fail "this system has no apt to fetch debug information: no $tool" \
			"install it as the distribution has it: files below /usr/lib/debug are found, too"
done

other=
[ ! -e "$lists/sources.list" ] ||
	other="-o Dir::State=$lists -o Dir::State::status=/dev/null -o Dir::Cache=$lists
		-o Dir::Etc=$lists -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::parts=/dev/null
		-o Dir::Etc::main=/dev/null"
package='' options=''
# Options and packages are lists of words.
# shellcheck disable=SC2086
find_package() {
	for options in '' "$other"; do
		for package in $packages; do
			apt-cache $options show --no-all-versions "$package" > about 2> log && return
		done
	done
	set -- $packages
	fail "apt knows no package $1" \
		"apt-get update; archives have the packages of their newest kernels only"
}
find_package
version=$(sed -n 's/^Version: //p' about)
size=$(sed -n 's/^Size: \([0-9]*\)$/\1/p' about)
# The package, and what is unpacked of it, KiB.
needed=$((${size:-0} * 2 / 1024))
[ "$(df -Pk . | awk 'NR == 2 { print $4 }')" -ge "$needed" ] || no_space

echo "lockscope: fetching $package $version, $((${size:-0} / 1048576)) MiB ..." >&3
# shellcheck disable=SC2086
run apt-get -q $options -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$package"
status=$?
deb=$(find . -maxdepth 1 -name '*.deb')
if [ $status != 0 ] || [ -z "$deb" ]; then
	! grep -q 'No space left' log || no_space
	fail "cannot fetch $package: $(reason)" \
		"is the network there? if the archive has a newer one: apt-get update"
fi

echo "lockscope: unpacking ..." >&3
# One pass over gigabytes: the names of all files, and those files that are wanted.
unpack='
	deb=$1
	shift
	mkfifo pipe
	tar -tf pipe > names &
	{ dpkg-deb --fsys-tarfile "$deb" || touch broken; } | tee pipe |
		tar -xf - -C root --no-same-owner --no-same-permissions --wildcards "$@"
	wait'
count=$#
while [ "$count" -gt 0 ]; do
	case $1 in
	vmlinux) set -- "$@" '*/vmlinux' '*/vmlinux-*' ;;
	# Files of modules may have dashes in their names.
	*) set -- "$@" "*/$(echo "$1" | sed 's/_/[-_]/g').ko*" ;;
	esac
	shift
	count=$((count - 1))
done
mkdir root
# What is not in the package is no failure.
run sh -c "$unpack" unpack "$deb" "$@" || :
! grep -q 'No space left' log || no_space
[ ! -e broken ] ||
	fail "cannot unpack $package: $(reason)" "it is damaged: lockscope symbols fetch once more"
sed -n -e 's|.*/\([^/]*\)\.ko[.a-z]*$|\1|p' -e 's|.*/vmlinux.*|vmlinux|p' names | tr - _ | sort -u > modules
echo "$package $version" > package
