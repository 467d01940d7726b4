#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# fetch-kernel VERSION: one of Debian's kernels, unpacked and not installed: image,
# modules, headers and what builds modules against them. VERSION is a release
# (6.12.95+deb12-amd64), the beginning of one (6.12) or "newest". Prints the folder
# that has its boot/ and lib/modules/; the folder's name is the release.
# fetch-kernel --source RELEASE: fetches the source of one that was fetched, too, and
# prints its archive.
#
# Kernels are kept in $XDG_CACHE_HOME/lockscope/kernels (~/.cache if not set) until
# they are removed by hand. apt does the work, with lists of its own there, and checks
# everything against Debian's keys. What a version came out as is kept as well
# (names/VERSION), so that nothing changes from one run to the next.
set -eu

cache=${XDG_CACHE_HOME:-$HOME/.cache}/lockscope/kernels
mirror=${LOCKSCOPE_MIRROR:-http://deb.debian.org/debian}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
arch=amd64
# Suites that match this machine's compiler and C library come first.
suites="bookworm-backports trixie trixie-backports sid"

fail() {
	echo "fetch-kernel: $1" >&2
	echo "HINT: $2" >&2
	exit 3
}

source=
if [ "${1:-}" = --source ]; then
	source=1
	shift
fi
[ $# = 1 ] || {
	echo "fetch-kernel: one version is needed" >&2
	echo "HINT: for example fetch-kernel 6.12" >&2
	exit 2
}
wanted=$1
case $wanted in
*[!A-Za-z0-9.+~-]* | '')
	echo "fetch-kernel: $wanted is no version" >&2
	echo "HINT: for example 6.12, 6.12.95+deb12-amd64 or newest" >&2
	exit 2
	;;
esac

# What is cached needs no network.
found() {
	[ -e "$cache/$1/boot/vmlinuz-$1" ] || return 1
	echo "$cache/$1"
	exit 0
}
if [ -n "$source" ]; then
	release=$wanted root=$cache/$wanted
	package=linux-source-$(echo "$release" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
	archive=$root/usr/src/$package.tar.xz
	[ -e "$root/boot/vmlinuz-$release" ] ||
		fail "kernel $wanted was not fetched" "fetch it first, and give its whole release"
	if [ -e "$archive" ]; then
		echo "$archive"
		exit 0
	fi
else
	found "$wanted" || true
	if [ -e "$cache/names/$wanted" ]; then
		found "$(cat "$cache/names/$wanted")" || true
	fi
fi

command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null ||
	fail "kernel $wanted is not here, and this system has no apt to fetch it" \
		"name an installed kernel, or a bzImage"
[ -e "$keys" ] || fail "no $keys to check packages with" "apt-get install debian-archive-keyring"
mkdir -p "$cache/names" 2> /dev/null ||
	fail "cannot write to $cache" "XDG_CACHE_HOME names another place for it"

# Concurrent fetches would load the same twice.
exec 9> "$cache/.lock"
flock 9
[ -n "$source" ] || found "$wanted" || true
work=$cache/.work
rm -rf "$work"
mkdir -p "$work/debs"
trap 'rm -rf "$work"' EXIT

# apt with its own folders: this machine's are neither read nor written.
apt() {
	command=$1
	shift
	"$command" -q -o Dir::State="$cache/.apt" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$cache/.apt" -o Dir::Etc="$cache/.apt" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::parts=/dev/null \
		-o Dir::Etc::main=/dev/null -o APT::Architecture=$arch -o APT::Architectures=$arch \
		-o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 \
		-o APT::Install-Recommends=0 "$@"
}

mkdir -p "$cache/.apt/lists/partial" "$cache/.apt/archives/partial"
for suite in $suites; do
	echo "deb [arch=$arch signed-by=$keys] $mirror $suite main"
done > "$cache/.apt/sources.list"
echo "fetch-kernel: looking for Debian's kernel $wanted ..." >&2
apt apt-get update > "$work/log" 2>&1 && ! grep -q '^[EW]: ' "$work/log" ||
	fail "cannot read Debian's lists: $(grep -m 1 '^[EW]: ' "$work/log" || tail -n 1 "$work/log")" \
		"is the network there? LOCKSCOPE_MIRROR names another mirror"

if [ -n "$source" ]; then
	# "7.3.4-1~bpo13+1" belongs to 7.3.4+deb13-amd64; older releases cannot be mapped.
	versions=$(apt apt-cache madison "$package" | awk -F ' *\\| *' '{ print $2 }')
	version=$(echo "$versions" | grep -m 1 "^${release%%[+-]*}-") || version=$(echo "$versions" | head -n 1)
	[ -n "$version" ] || fail "Debian has no $package" "looked at: $suites"
	echo "fetch-kernel: fetching $package $version ..." >&2
	(cd "$work/debs" && apt apt-get download "$package=$version") > "$work/log" 2>&1 ||
		fail "cannot fetch $package: $(grep -m 1 '^E: ' "$work/log" || tail -n 1 "$work/log")" \
			"is the network there, is the disk full?"
	dpkg-deb -x "$work"/debs/*.deb "$work/root" || fail "cannot unpack $package" "is the disk full?"
	mkdir -p "$root/usr/src"
	mv "$work/root/usr/src/$package.tar.xz" "$archive"
	echo "$archive"
	exit 0
fi

# Debian keeps images longer than headers. Among those that have both, releases for this
# machine's Debian come first.
apt apt-cache pkgnames > "$work/names"
here=$(sed 's/\..*//' /etc/debian_version)
release=
for this in $(sed -n "s/^linux-headers-\([0-9].*-$arch\)$/\1/p" "$work/names" |
	grep -v -e "-cloud-$arch$" -e "-rt-$arch$" |
	awk -v v="$wanted" -v here="+deb$here" '
		v == "newest" || $0 == v || index($0, v ".") == 1 {
			print (v != "newest" && index($0, here)) + 0, $0
		}' | sort -k1,1nr -k2,2Vr | awk '{ print $2 }'); do
	needs=$(apt apt-cache depends "linux-headers-$this" |
		sed -n 's/^ *Depends: \(linux-headers-.*-common\|linux-kbuild-.*\)$/\1/p')
	image=$(grep -m 1 -x -e "linux-image-$this" "$work/names" ||
		grep -m 1 -x -e "linux-image-$this-unsigned" "$work/names") || continue
	# Image and modules may be packages that this one depends on.
	image="$image $(apt apt-cache depends "$image" |
		sed -n "s/^ *Depends: \(linux-[a-z]*-.*\)$/\1/p" | grep -F -e "-$this" || true)"
	missing=
	for package in $image $needs; do
		grep -q -x -F -e "$package" "$work/names" || missing=$package
	done
	[ -n "$missing" ] || {
		release=$this
		break
	}
done
[ -n "$release" ] || fail "Debian has no kernel $wanted that modules can be built for" "looked at: $suites"
keep_name() { [ "$wanted" = "$release" ] || echo "$release" > "$cache/names/$wanted"; }
if [ -e "$cache/$release/boot/vmlinuz-$release" ]; then
	keep_name
	found "$release"
fi

echo "fetch-kernel: fetching $release ..." >&2
(cd "$work/debs" && apt apt-get download $image "linux-headers-$release" $needs) > "$work/log" 2>&1 ||
	fail "cannot fetch $release: $(grep -m 1 '^E: ' "$work/log" || tail -n 1 "$work/log")" \
		"is the network there, is the disk full?"
root=$work/root
for deb in "$work"/debs/*.deb; do
	dpkg-deb -x "$deb" "$root" || fail "cannot unpack $(basename "$deb")" "is the disk full?"
done

# Packages assume that they are unpacked to the root.
[ -e "$root/lib/modules" ] || {
	mkdir -p "$root/lib"
	ln -s ../usr/lib/modules "$root/lib/modules"
}
headers=$root/usr/src/linux-headers-$release
sed -i "s|/usr/src/|$cache/$release/usr/src/|" "$headers/Makefile"
for link in build source; do
	to=$(readlink "$root/lib/modules/$release/$link") || continue
	case $to in
	/*) ln -sfn "$cache/$release$to" "$root/lib/modules/$release/$link" ;;
	esac
done
image=boot/vmlinuz-$release
if [ ! -e "$root/$image" ] && [ -e "$root/lib/modules/$release/vmlinuz" ]; then
	mkdir -p "$root/boot"
	ln -s "../lib/modules/$release/vmlinuz" "$root/$image"
	ln -s "../lib/modules/$release/config" "$root/boot/config-$release"
fi
[ -e "$root/$image" ] && [ -d "$root/lib/modules/$release/kernel" ] ||
	fail "the packages of $release have no image or no modules" "name another kernel"

# The tools that build modules may need a newer C library than this machine's, and the compiler
# may be a newer one. Then all of them are fetched as well, to tools/, with the path of their
# libraries set.
compiler=$(apt apt-cache depends "linux-headers-$release" |
	sed -n 's/^ *Depends: <\{0,1\}\(gcc-[0-9]*\).*/\1/p')
# shellcheck disable=SC2211 # there is one linux-kbuild
if ! "$root"/usr/lib/linux-kbuild-*/scripts/basic/fixdep 2>&1 | grep -q -i usage ||
	! command -v "$compiler" > /dev/null; then
	command -v patchelf > /dev/null ||
		fail "the tools of $release do not run on this Debian" "apt-get install patchelf"
	echo "fetch-kernel: fetching $compiler and its libraries ..." >&2
	apt apt-get -y --download-only install "$compiler" $(echo "$needs" | grep kbuild) > "$work/log" 2>&1 ||
		fail "cannot fetch $compiler: $(grep -m 1 '^E: ' "$work/log" || tail -n 1 "$work/log")" \
			"is the network there, is the disk full?"
	for deb in "$cache"/.apt/archives/*.deb; do
		case $(basename "$deb") in
		linux-*) ;;
		*) dpkg-deb -x "$deb" "$work/tools" || fail "cannot unpack $(basename "$deb")" "is the disk full?" ;;
		esac
	done
	rm -f "$cache"/.apt/archives/*.deb
	mkdir -p "$root/tools"
	mv "$work/tools/usr"/* "$root/tools/"
	libraries=$cache/$release/tools/lib/x86_64-linux-gnu
	find "$root/tools/bin" "$root/tools/libexec" "$root"/usr/lib/linux-kbuild-* -type f -perm /111 |
		while read -r program; do
			# Only files with a dynamic linker are programs.
			patchelf --print-interpreter "$program" > /dev/null 2>&1 || continue
			patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --force-rpath \
				--set-rpath "$libraries" "$program" ||
				fail "cannot make $(basename "$program") run here" "name another kernel"
		done
fi
depmod -b "$root" "$release" || fail "cannot index the modules of $release" "apt-get install kmod"
mv "$root" "$cache/$release"
keep_name
echo "$cache/$release"
