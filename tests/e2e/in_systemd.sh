#!/usr/bin/env bash
# in_systemd.sh UNIT_FOLDER UNIT: runs the machine's systemd in namespaces of its own, with the units of the folder and none else, starts UNIT, and
# waits for a power-off from inside. Everything that it started is gone then. Ends with 77, "not run", where that cannot be done.
set -uo pipefail
[ "$(id -u)" = 0 ] && [ -x /lib/systemd/systemd ] && command -v unshare >/dev/null || { echo "not run: needs root and systemd" >&2; exit 77; }

# The machine's own units and generators are hidden: they clear /tmp, set kernel parameters, mount what fstab says.
boot='
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
for folder in /usr/lib/systemd/system /etc/systemd/system /usr/local/lib/systemd/system \
    /usr/lib/systemd/system-generators /etc/systemd/system-generators /usr/local/lib/systemd/system-generators; do
  [ ! -d $folder ] || mount -t tmpfs -o mode=755 tmpfs $folder
done
mkdir -p /run/lock /run/systemd/system
cp "$0"/* /run/systemd/system/
for target in sysinit basic network-online remote-fs shutdown; do
  printf "[Unit]\nDefaultDependencies=no\n" >/run/systemd/system/$target.target
done
export container=espalier-test
exec /lib/systemd/systemd --system --unit="$1" --log-target=console --show-status=no --default-standard-output=null'

groups=()
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
  [ -e "$hierarchy/cgroup.procs" ] || continue
  mkdir -p "$hierarchy/espalier-test-$$" && groups+=("$hierarchy/espalier-test-$$")
done
[ ${#groups[@]} != 0 ] || { echo "not run: no cgroups to write to" >&2; exit 77; }
(
  for group in "${groups[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
  exec unshare --pid --fork --kill-child --mount --uts --ipc --cgroup --mount-proc bash -c "$boot" "$@"
)
status=$?
for group in "${groups[@]}"; do find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; done
exit $status
