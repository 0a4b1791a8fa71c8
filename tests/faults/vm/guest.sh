#!/bin/busybox sh
# The first process of the virtual machine that scripts/faults-in-vm starts. Prints "ok" or "not ok"
# for each case, and the output of the command after "not ok".
/bin/busybox --install -s /bin
export PATH=/bin DM_DISABLE_UDEV=1
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /tmp
cd /tmp || exit

# check NAME EXIT WORDS COMMAND...: expects this exit code, and output that matches the regular
# expression WORDS. A command that fails must print nothing on stdout.
check() {
  name=$1 wanted=$2 words=$3
  shift 3
  "$@" >out 2>err
  code=$?
  if [ "$code" = "$wanted" ] && cat out err | grep -qE -- "$words" &&
     { [ "$code" = 0 ] || [ ! -s out ]; }; then
    echo "ok $name"
  else
    echo "not ok $name: exit $code instead of $wanted, or without \"$words\""
    sed 's/^/  /' out err
  fi
}

# reduce FILE [OPTION...]
reduce() { ooc-run reduce "$@" --dtype u1 --json --quiet; }

# make_disk TABLE: creates a device-mapper disk with this table.
make_disk() { dmsetup create test --table "$1"; }
remove_disk() { dmsetup remove --retry test; }

echo "# Linux $(uname -r)"
size=$((32 << 20)) sectors=65536
ooc-run gen -o data --size $size --dtype u1 --quiet >/dev/null
right=$(reduce data | grep -o '"sum": *[0-9]*')
modprobe loop
modprobe dm-mod
disk=$(losetup -f)
losetup "$disk" data

check "a disk without faults" 0 "$right" reduce "$disk"
check "the same through threads" 0 "$right" reduce "$disk" --engine threads
check "the same directly, as it says" 0 '"direct": *true' reduce "$disk" --direct yes
check "bytes counted" 0 '"counts"' ooc-run histogram "$disk" --dtype u1 --json --quiet

# --- one chunk cannot be read: 8 sectors in the middle, at 20 MiB --------------------------------
bad=40960
make_disk "0 $bad linear $disk 0
$bad 8 error
$((bad + 8)) $((sectors - bad - 8)) linear $disk $((bad + 8))"
for engine in uring threads; do
  for direct in yes no; do
    check "a bad place, $engine, direct $direct" 4 20971520 \
      reduce /dev/mapper/test --engine $engine --direct $direct
  done
done
check "the bytes before it are right" 0 '"count": *20971520' \
  reduce /dev/mapper/test --count 20971520
remove_disk

# --- a disk that is there for six seconds and gone for three -------------------------------------
modprobe dm-flakey
make_disk "0 $sectors flakey $disk 0 6 3"
right_ones=0 refused=0 wrong=0 i=0
while [ $i -lt 15 ]; do
  if reduce /dev/mapper/test >out 2>err; then
    if grep -q "$right" out; then right_ones=$((right_ones + 1)); else wrong=$((wrong + 1)); fi
  elif [ $? = 4 ] && [ ! -s out ]; then
    refused=$((refused + 1))
  else
    wrong=$((wrong + 1))
  fi
  sleep 1
  i=$((i + 1))
done
said="$right_ones right, $refused refused, $wrong wrong"
if [ $wrong = 0 ] && [ $right_ones -gt 0 ] && [ $refused -gt 0 ]; then
  echo "ok a disk that comes and goes: $said"
else
  echo "not ok a disk that comes and goes: $said"
fi
remove_disk

# --- a slow disk, and one that stops -------------------------------------------------------------
modprobe dm-delay
make_disk "0 $sectors delay $disk 0 500"
check "half a second a read" 0 "$right" reduce /dev/mapper/test
stop_for() { sleep 1; dmsetup suspend --noflush test; sleep "$1"; dmsetup resume test; }
stop_for 3 &
check "a disk that stops for 3 seconds" 0 "$right" reduce /dev/mapper/test
wait
stop_for 20 &
check "a disk that stops for longer than --io-timeout" 9 "answered nothing|no answer" \
  reduce /dev/mapper/test --io-timeout 2
dmsetup resume test
wait
remove_disk

# --- an output on a disk that takes no more writes -----------------------------------------------
truncate -s $size room
room=$(losetup -f)
losetup "$room" room
make_disk "0 $sectors linear $room 0"
mkfs.ext4 -q /dev/mapper/test
mount /dev/mapper/test /mnt
echo old >/mnt/out
sync
dmsetup suspend test
dmsetup load test --table "0 $sectors flakey $room 0 0 1 1 error_writes"
dmsetup resume test
check "an output that cannot be written" 6 "out" \
  ooc-run convert data -o /mnt/out --dtype u1 --to u2 --count 4000000 --force --quiet
check "the old output is there" 0 "^old$" cat /mnt/out
check "and nothing else" 0 "^lost.found out $" sh -c 'ls /mnt | sort | tr "\n" " "'
umount /mnt
remove_disk

# --- power cuts while a run saves where it is ----------------------------------------------------
# From some moment on, a disk drops all that is written, as if it had no power: what only the page
# cache has is lost. What the checkpoint says to be written must be there all the same. Direct
# writes are on the disk already, so they are every other run only.
hundredths() { cut -d' ' -f1 /proc/uptime | tr -d .; }
part="--dtype u1 --to u2 --count 8388608 --chunk 256K --quiet"
ooc-run convert data -o right_out $part >out 2>&1
set -- convert data -o /mnt/out $part --resume /mnt/state --checkpoint-every 0
truncate -s 64M cut_room
cut=$(losetup -f)
losetup "$cut" cut_room
cut_sectors=$((64 << 11))
# start_job: makes a file system on a new disk and starts the command in the background.
start_job() {
  make_disk "0 $cut_sectors flakey $cut 0 3600 0"
  mkfs.ext4 -q -F /dev/mapper/test >out 2>&1
  mount /dev/mapper/test /mnt
  ooc-run "$@" >out 2>&1 &
  job=$!
}
began=$(hundredths)
start_job "$@" --direct no
wait $job
usual=$(($(hundredths) - began))
umount /mnt
remove_disk
gone_on=0 anew=0 ended=0 wrong=0 cuts=12 i=0
while [ $i -lt $cuts ]; do
  [ $((i % 2)) = 0 ] && direct="--direct no" || direct=  # it chooses direct writes
  start_job "$@" $direct
  usleep $((usual * 10000 * (i + 1) / cuts))
  dmsetup suspend --noflush --nolockfs test
  dmsetup load test --table "0 $cut_sectors flakey $cut 0 0 3600 1 drop_writes"
  dmsetup resume test
  usleep 100000
  kill -9 $job
  wait $job 2>/dev/null
  umount /mnt
  remove_disk
  mount "$cut" /mnt
  if [ -e /mnt/out ]; then
    ended=$((ended + 1))
  elif ooc-run "$@" --json >out 2>&1 && grep -q '"resumed_bytes": *[1-9]' out; then
    gone_on=$((gone_on + 1))
  else
    anew=$((anew + 1))
  fi
  cmp -s right_out /mnt/out || { wrong=$((wrong + 1)); cat out; ls -l /mnt; }
  umount /mnt
  i=$((i + 1))
done
said="$gone_on went on, $anew began anew, $ended had ended, $wrong wrong"
if [ $wrong = 0 ] && [ $gone_on -ge 5 ]; then
  echo "ok power cuts: $said"
else
  echo "not ok power cuts: $said"
fi
losetup -d "$cut"
rm cut_room right_out

# --- media errors, and blocks of 4 KiB -----------------------------------------------------------
modprobe sd_mod
modprobe scsi_debug dev_size_mb=32 delay=0
sleep 1
dd if=data of=/dev/sda bs=1M conv=fsync 2>/dev/null
check "a SCSI disk" 0 "$right" reduce /dev/sda
rmmod scsi_debug
modprobe scsi_debug dev_size_mb=32 delay=0 opts=2 medium_error_start=$bad medium_error_count=8
sleep 1
check "a medium error" 4 "20971520" reduce /dev/sda
rmmod scsi_debug
modprobe scsi_debug dev_size_mb=32 delay=0 sector_size=4096
sleep 1
dd if=data of=/dev/sda bs=1M conv=fsync 2>/dev/null
check "blocks of 4 KiB" 0 "$right" reduce /dev/sda --direct yes
odd_right=$(reduce data --offset 4097 | grep -o '"sum": *[0-9]*')
check "blocks of 4 KiB, from within one" 0 "$odd_right" reduce /dev/sda --offset 4097 --direct yes
rmmod scsi_debug

echo "# end"
poweroff -f
