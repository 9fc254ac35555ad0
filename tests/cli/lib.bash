# Sourced by the tests of the command line: RINGMASTER is the program, REPOSITORY its sources. Every test works in
# a folder of its own that goes away, and ends with the number of checks that failed.
set -uo pipefail
: "${RINGMASTER:?the program to test}" "${REPOSITORY:?the source tree}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*"
}

# run COMMAND...: its output in ./out and ./err, its exit code in $code.
run() {
  code=0
  "$@" >out 2>err </dev/null || code=$?
}

# on_ranks N COMMAND...: the same under mpirun.
on_ranks() {
  local n=$1
  shift
  run timeout 170 mpirun -np "$n" "$@"
}

expect_code() {
  [[ $code == "$1" ]] || { fail "exit code $code, expected $1 ($2)"; tail -n 5 out err; }
}
expect_in() { # FILE PATTERN WHAT
  grep -qE -- "$2" "$1" || { fail "$3: no line of $1 matches: $2"; head -n 20 "$1"; }
}
expect_not_in() {
  if grep -qE -- "$2" "$1"; then
    fail "$3: $1 has a line that matches: $2"
    grep -nE -- "$2" "$1" | head -n 5
  fi
}
expect_line() { # FILE NUMBER PATTERN WHAT
  sed -n "$2p" "$1" | grep -qE -- "$3" || { fail "$4: line $2 of $1 is not: $3"; head -n 5 "$1"; }
}
expect_file() { [[ -s $1 ]] || fail "$1 is missing or empty"; }

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.05
  done
}
lines_in() { [[ -f $1 ]] && wc -l <"$1" || echo 0; }
has_lines() { (($(lines_in "$1") >= $2)); }

# small_config [EXTRA-YAML]: two variants of a small mlp on made-up data.
small_config() {
  cat <<YAML
name: small
model: {kind: mlp, width: 64, layers: 2}
data: {kind: synthetic}
train: {batch: 8}
measure: {rounds: 3, steps: 2, warmup: 1, held_out: 16}
sweep:
  communication.collective: [library, ring]
${1-}
YAML
}

finish() {
  ((failures == 0)) && echo "all checks passed"
  exit $((failures > 0))
}
