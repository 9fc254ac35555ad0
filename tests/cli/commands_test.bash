# Subcommands that need no mpirun: version, help, list, topology, completion, and words that are none.
source "$(dirname "$0")/lib.bash"
run "$RINGMASTER" --version
expect_code 0 "--version"
expect_line out 1 '^ringmaster [0-9]+\.[0-9]+\.[0-9]+ \(' "--version"
run "$RINGMASTER" --help
expect_code 0 "--help"
for word in run bench validate list report compare topology completion; do expect_in out "^ +$word" "--help"; done
for word in run bench validate list report compare topology completion; do
  run "$RINGMASTER" "$word" --help
  expect_code 0 "$word --help"
done
run "$RINGMASTER" reprot x
expect_code 2 "an unknown subcommand"
expect_in err "reprot.*did you mean 'report'" "an unknown subcommand"
run "$RINGMASTER"
expect_code 2 "no subcommand"
run "$RINGMASTER" report results/x --no-such-flag
expect_code 2 "an unknown flag"
run "$RINGMASTER" report nowhere
expect_code 2 "report without a run"
expect_in err 'nowhere' "report without a run"
run "$RINGMASTER" list
expect_code 0 "list"
for word in library ring recursive-doubling rabenseifner tree direct torus swing hierarchical mlp transformer layers text synthetic; do
  expect_in out "^ +$word" "list"
done
run "$RINGMASTER" list schedule ring --ranks 4
expect_code 0 "list schedule"
expect_in out '^verified: ' "list schedule"
run "$RINGMASTER" list schedule rign
expect_code 2 "list of an unknown schedule"
for arguments in "models x" "mdels x" "config x" "models --ranks 4" "schedule --ranks 4" "models --parameter a=b"; do
  # shellcheck disable=SC2086
  run "$RINGMASTER" list $arguments
  expect_code 2 "list $arguments"
  [[ ! -s out && $(wc -l <err) == 1 ]] || fail "list $arguments: not one line: $(cat out err)"
done
run "$RINGMASTER" list models x
expect_line err 1 "^error: list models takes no name, got 'x' \\(" "list models x"
run "$RINGMASTER" topology
expect_code 0 "topology"
expect_in out '[0-9]' "topology"
run "$RINGMASTER" topology --json -
expect_code 0 "topology --json"
expect_line out 1 '^\{' "topology --json"
for shell in bash zsh fish; do
  run "$RINGMASTER" completion "$shell"
  expect_code 0 "completion $shell"
  expect_in out 'bench' "completion $shell"
done
run "$RINGMASTER" completion bash
bash -n out || fail "the bash completion is no bash"
# A full standard output is an error, not a silence.
for arguments in list "list config" --version --help "report --help"; do
  code=0
  # shellcheck disable=SC2086
  "$RINGMASTER" $arguments >/dev/full 2>err || code=$?
  expect_code 1 "$arguments on a full device"
  expect_line err 1 '^error: cannot write to the standard output' "$arguments on a full device"
done
finish
