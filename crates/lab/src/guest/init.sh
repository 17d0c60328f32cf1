#!/bin/busybox sh
# The first process of a guest: makes it ready, lets the worker serve the port, switches the machine off.
b=/bin/busybox
$b hostname lab
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
$b mkdir -p /dev/shm
$b mount -t tmpfs shm /dev/shm
$b mount -t tmpfs run /run
$b mount -t tmpfs tmp /tmp
# Modules get their parameters from the command line of the kernel, as `modprobe` would hand them on.
for module in $($b cat /lib/modules/order); do
  parameters=
  for word in $($b cat /proc/cmdline); do
    case $word in $module.*) parameters="$parameters ${word#$module.}" ;; esac
  done
  $b insmod "/lib/modules/$module.ko" $parameters || echo "stend-lab: module $module is not loaded"
done
for word in $($b cat /proc/cmdline); do
  case $word in stend.drives=*) drives=${word#stend.drives=} ;; esac
done
# Drives are found beside this script: who says hello before the last is there would be asked for it in vain.
tries=0
while [ "$tries" -lt 1500 ]; do
  found=0
  for disk in /sys/block/nvme* /sys/block/vd*; do [ -e "$disk/size" ] && found=$((found + 1)); done
  port=
  for one in /sys/class/virtio-ports/*; do
    [ "$($b cat "$one/name" 2>/dev/null)" = stend.worker ] && port=/dev/${one##*/}
  done
  [ -n "$port" ] && [ "$found" -ge "$drives" ] && break
  tries=$((tries + 1))
  $b usleep 20000
done
if [ -z "$port" ] || [ "$found" -lt "$drives" ]; then
  echo "stend-lab: of $drives drives $found appeared, port: ${port:-none}"
else
  LD_LIBRARY_PATH=/lib /bin/stend worker 0<>"$port" 1>&0
  echo "stend-lab: the worker ended with $?"
fi
$b poweroff -f
