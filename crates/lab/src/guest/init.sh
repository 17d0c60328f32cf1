#!/bin/busybox sh
# The first program of a guest: finds its system among the drives, puts memory over it, and goes on there.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for module in $($b cat /modules/order); do
  $b insmod "/modules/$module" || echo "stend-lab: module $module is not loaded"
done
system=
tries=0
while [ "$tries" -lt 1500 ]; do
  for disk in /sys/block/vd*; do
    [ "$($b cat "$disk/serial" 2>/dev/null)" = stend-system ] && system=/dev/${disk##*/}
  done
  [ -n "$system" ] && break
  tries=$((tries + 1))
  $b usleep 10000
done
# What is written goes to memory, and with the machine.
$b mount -t erofs -o ro "$system" /system &&
  $b mount -t tmpfs memory /memory &&
  $b mkdir /memory/upper /memory/work &&
  $b mount -t overlay -o lowerdir=/system,upperdir=/memory/upper,workdir=/memory/work,index=on,nfs_export=on whole /whole || {
  echo "stend-lab: the system of the guest is not found, drive: ${system:-none}"
  $b poweroff -f
}
# The program that is given to the guest stays where the kernel has unpacked it.
$b mount --bind /program /whole/usr/lib/stend
for directory in proc sys dev; do $b mount --move "/$directory" "/whole/$directory"; done
cd /whole || $b poweroff -f
$b mount --move . /
exec $b chroot . /sbin/stend-init
