# Wrong configs: every mistake at once, with its place and a hint; exit code 2; the first line is ours.
source "$(dirname "$0")/lib.bash"

wrong() { # NAME YAML PATTERN...
  local name=$1
  printf '%s' "$2" >"$name.yaml"
  shift 2
  run "$RINGMASTER" validate "$name.yaml"
  expect_code 2 "$name"
  expect_line err 1 "^$name\\.yaml:[0-9]+:[0-9]+: error: " "$name"
  local pattern
  for pattern in "$@"; do expect_in err "$pattern" "$name"; done
}

wrong unknown_key $'model: mlp\nmeasur: {rounds: 3}\n' "^unknown_key.yaml:2:1: error: .*measur.*did you mean 'measure'"
wrong duplicate_key $'model: mlp\nseed: 1\nseed: 2\n' '^duplicate_key.yaml:3:1: error: .*seed'
wrong wrong_type $'model: mlp\nmeasure: {rounds: many}\n' "^wrong_type.yaml:2:19: error: .*expects an integer, got 'many'"
wrong out_of_range $'model: mlp\ntrain: {batch: 0}\n' '^out_of_range.yaml:2:16: error: .*batch.*must be'
wrong unknown_variant $'model: mlp\ncommunication: {collective: rign}\n' "rign.*did you mean 'ring'"
wrong unknown_model $'model: mpl\n' "^unknown_model.yaml:1:8: error: .*mpl"
wrong two_at_once $'modle: mlp\nseed: x\n' "^two_at_once.yaml:1:1: error: .*did you mean 'model'" '^two_at_once.yaml:2:7: error: '
wrong broken_yaml $'model: [mlp\n' 'error: '
wrong swept_variant $'model: mlp\nsweep:\n  communication.collective: [ring, treee]\n' "^swept_variant.yaml:3:36: error: .*did you mean 'tree'"

run "$RINGMASTER" validate missing.yaml
expect_code 2 "a missing file"
expect_in err '^missing.yaml: error: |^error: .*missing.yaml' "a missing file"

small_config >good.yaml
run "$RINGMASTER" validate good.yaml
expect_code 0 "a good config"
run "$RINGMASTER" run good.yaml --check-only --set train.batch=-3
expect_code 2 "a wrong --set"
expect_in err 'train.batch' "a wrong --set"

# The same mistake under mpirun: one message, not one a rank, and no run.
printf 'model: mlp\nsede: 1\n' >once.yaml
on_ranks 2 "$RINGMASTER" run once.yaml
[[ $code != 0 ]] || fail "a wrong config runs under mpirun"
expect_line err 1 '^once.yaml:2:1: error: ' "under mpirun"
[[ $(grep -c '^once.yaml' err) == 1 ]] || fail "the message comes once, not once a rank"
[[ ! -e results ]] || fail "a wrong config left a result"
finish
