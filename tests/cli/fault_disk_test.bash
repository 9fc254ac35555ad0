# A full disk: a clear error that names the file; what was measured before is whole.
source "$(dirname "$0")/lib.bash"
small_config | sed 's/rounds: 3/rounds: 300/' >small.yaml
on_ranks 2 bash -c 'ulimit -f 48; exec "$@"' limited "$RINGMASTER" run small.yaml --output full
[[ $code != 0 ]] || fail "a full disk went unnoticed"
expect_in err '(File too large|No space left)' "the system's reason"
expect_in err 'full/' "which file"
run "$RINGMASTER" report full
expect_code 0 "what was measured before"
if mkdir disk && unshare -m true 2>/dev/null; then
  run unshare -m bash -c "mount -t tmpfs -o size=96k none disk && timeout 100 mpirun -np 2 '$RINGMASTER' run small.yaml --output disk/full; code=\$?; cp -r disk/full kept; exit \$code"
  [[ $code != 0 ]] || fail "a full file system went unnoticed"
  expect_in err 'No space left' "a full file system"
  run "$RINGMASTER" report kept
  expect_code 0 "what was measured before the disk was full"
fi
finish
