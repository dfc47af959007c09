#!/usr/bin/env bash
# with_gluster.sh COMMAND ...: runs it in namespaces of its own (network, mounts, processes, ...), where GlusterFS servers can be started that
# concern nobody else; all that was started ends with the command. Ends with 77, which means "not run", where that cannot be.
not_run() { echo "not run: $*" >&2; exit 77; }

for program in glusterd gluster ip nsenter unshare; do
  command -v $program >/dev/null || not_run "$program is not installed (tools/packages.txt says what brings it)"
done
[ "$(id -u)" = 0 ] || not_run "a GlusterFS server needs root"
sandbox=(unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc)
"${sandbox[@]}" true || not_run "no namespaces can be made here"
exec "${sandbox[@]}" sh -c 'mount -t tmpfs tmpfs /run && ip link set lo up && "$@"' sh "$@"
