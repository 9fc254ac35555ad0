# Planted causes: what the report names first is what was planted.
source "$(dirname "$0")/lib.bash"
base() {
  cat <<YAML
name: cause
model: {kind: mlp, width: 256, layers: 3}
data: {kind: synthetic}
train: {batch: 32}
measure: {rounds: 5, steps: 3, warmup: 1, held_out: 16}
communication: {collective: ring}
YAML
}
named() { # CAUSE ARGUMENT...
  local cause=$1
  shift
  base >"$cause.yaml"
  on_ranks 2 "$RINGMASTER" run "$cause.yaml" --output "$cause" --json "$cause.json" "$@"
  expect_code 0 "$cause"
  local first
  first=$(grep -oE '"cause": ?"[a-z_]+"' "$cause.json" | head -n 1)
  [[ $first == *"\"$cause\"" ]] || { fail "planted $cause, named first: $first"; grep -A12 -i 'limits' out; }
}
named data --set plant.loader_s=0.03
named slow_rank --set plant.slow_rank=1 --set plant.slow_rank_s=0.03
named tiny_buckets --set communication.bucket=1K --set model.width=512
named slow_link --set plant.link_bytes_per_s=20M
named no_spare_core --set communication.engine=inline --set model.width=1024 --set model.layers=4
finish
