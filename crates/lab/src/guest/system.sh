#!/bin/sh
# The first program of a guest's system: makes it ready, lets the worker serve its port, switches the machine off.
# There is no systemd: what a layer needs (iscsid, rpc.nfsd, …) its commands start.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C
b=/bin/busybox
$b hostname lab
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/lock /run/lvm /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug
mount -t cgroup2 cgroup /sys/fs/cgroup
modprobe -a configfs loop
mount -t configfs config /sys/kernel/config
ip link set lo up
/usr/lib/systemd/systemd-udevd --daemon >/dev/null 2>&1
# Names that hosts of a fabric must have, and that no two machines share.
uuid=$(cat /proc/sys/kernel/random/uuid)
echo "nqn.2014-08.org.nvmexpress:uuid:$uuid" >/etc/nvme/hostnqn
echo "$uuid" >/etc/nvme/hostid
echo "InitiatorName=iqn.1993-08.org.debian:01:$uuid" >/etc/iscsi/initiatorname.iscsi
# What the installation of an NFS server leaves empty.
mkdir -p /var/lib/nfs
: >/etc/exports >/var/lib/nfs/etab >/var/lib/nfs/rmtab
drives=0
stays=
links=
must_keep=
for word in $(cat /proc/cmdline); do
  case $word in
    stend.drives=*) drives=${word#stend.drives=} ;;
    stend.stays) stays=yes ;;
    stend.keep) must_keep=yes ;;
    stend.links=*) links=${word#stend.links=} ;;
    stend.modules=*) modprobe -a $(echo "${word#stend.modules=}" | $b tr , ' ') ;;
  esac
done
# By hand: a look at every device there is would take three seconds more under emulation.
udevadm trigger --action=add --subsystem-match=block --subsystem-match=nvme
kept=
own=1
stend-keep && kept=yes && own=2
# Drives are found beside this script: who says hello before the last is there would be asked for it in vain. One or two more are
# the system's own.
tries=0
while [ "$tries" -lt 1500 ]; do
  found=-$own
  for disk in /sys/block/nvme*n* /sys/block/vd* /sys/block/sd*; do [ -e "$disk/size" ] && found=$((found + 1)); done
  [ "$found" -ge "$drives" ] && break
  tries=$((tries + 1))
  $b usleep 20000
done
udevadm settle -t 30
# Networks of this machine and another one, told apart by their hardware addresses; udev gives them names of its own first.
[ -n "$links" ] && modprobe virtio_net && udevadm settle -t 30
number=0
for link in $(echo "$links" | $b tr , ' '); do
  number=$((number + 1))
  for net in /sys/class/net/*; do
    [ "$(cat "$net/address")" = "${link%@*}" ] || continue
    ip link set "${net##*/}" name "link$number" && ip address add "${link#*@}" dev "link$number" && ip link set "link$number" up
  done
  [ -e "/sys/class/net/link$number" ] || echo "stend-lab: link $number did not appear"
done
port=
for one in /sys/class/virtio-ports/*; do
  [ "$(cat "$one/name" 2>/dev/null)" = stend.worker ] && port=/dev/${one##*/}
done
if [ -z "$port" ] || [ "$must_keep" -a -z "$kept" ] || [ "$found" -lt "$drives" ]; then
  echo "stend-lab: of $drives drives $found appeared, port: ${port:-none}, what a reset leaves: ${kept:-none}"
elif [ -n "$stays" ]; then
  # Whoever comes is served; the machine ends when it is told to.
  stend guest
  echo "stend-lab: the service ended with $?"
else
  stend worker 0<>"$port" 1>&0
  echo "stend-lab: the worker ended with $?"
fi
$b poweroff -f
