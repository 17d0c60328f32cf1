#!/bin/sh
# Builds the modules of ZFS for the kernel of a guest; runs in a tree of packages that nothing else is in. Its argument is the
# release of the kernel.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C
failed() {
  tail -n 1 "/$1.log" >&2
  exit 1
}
headers=/usr/src/linux-headers-$1
# Those of a flavour (`-amd64`) lie beside what all flavours have in common.
common=${headers%-*}-common
if [ ! -d "$headers" ]; then
  echo "no headers of the kernel $1" >&2
  exit 1
fi
cd /usr/src/zfs-*/ || exit 1
./configure --with-config=kernel --with-linux="$common" --with-linux-obj="$headers" >/configure.log 2>&1 || failed configure
make -j"$(nproc)" >/make.log 2>&1 || failed make
mkdir /built
find module -name '*.ko' -exec cp {} /built/ \;
strip --strip-debug /built/*.ko
