# Pretended nodes: shared memory inside them, messages between them, in bench and in training.
source "$(dirname "$0")/lib.bash"
on_ranks 4 "$RINGMASTER" bench -b 4 -e 300K -f 17 -n 3 -w 1 --rounds 2 --ranks-per-node 2 \
  --variants 'library,ring@shared,ring@mixed,hierarchical@mixed(group=2)'
expect_code 0 "bench on pretended nodes"
expect_in out '^! pretended nodes: 2 ranks each' "the stamp"
expect_in out 'shared memory needs all ranks on one node; here are 2 of 4' "why shared memory alone did not run"
expect_in out 'ring@mixed.*on shared memory inside nodes, point-to-point over mpi between nodes' "what ran"
[[ $(grep -c 'Out of bounds values : 0 OK' out) == 3 ]] || fail "wrong sums"
on_ranks 2 "$RINGMASTER" bench -b 4 -e 4 -n 1 -w 1 --rounds 2 --variants 'library,ring@mixed'
expect_code 0 "bench on one node"
expect_in out 'all ranks share one node: use ring@shared' "why mixed did not run"
run "$RINGMASTER" bench --ranks-per-node 0 --check-only
expect_code 2 "nodes without ranks"

small_config | sed 's/\[library, ring\]/[library, ring, "ring@mixed"]/' >mixed.yaml
on_ranks 3 "$RINGMASTER" run mixed.yaml --ranks-per-node 2 --output mixed
expect_code 0 "training on pretended nodes"
expect_in mixed/run.json 'pretended nodes: 2 ranks each' "the stamp of a run"
hash_of() { grep '"point_end"' mixed/samples.jsonl | grep "\"point\": \?$1[,}]" | grep -oE '"parameter_hash": ?"[0-9a-f]+"'; }
[[ -n $(hash_of 1) && $(hash_of 1) == "$(hash_of 2)" ]] || fail "ring and ring@mixed end with other parameters"
finish
