# Shared memory inside nodes, messages between them: in bench and in training, on nodes that --ranks-per-node pretends.
source "$(dirname "$0")/lib.bash"
mixed='library,ring@mixed,hierarchical@mixed(group=2),tree@mixed'
for memory in registered own; do
  on_ranks 4 "$RINGMASTER" bench -b 4 -e 300K -f 17 -n 3 -w 1 --rounds 2 --memory $memory --ranks-per-node 2 \
    --variants "$mixed"
  expect_code 0 "bench on two nodes, vectors $memory"
  expect_in out '^# ring@mixed.*: ring \(ringmaster schedule, on shared memory inside nodes, point-to-point over mpi between nodes' "what ran"
  expect_in out '^! pretended nodes: 2 ranks each' "the stamp"
  [[ $(grep -c 'Out of bounds values : 0 OK' out) == 4 ]] || fail "wrong sums, vectors $memory"
done
on_ranks 3 "$RINGMASTER" bench -b 4K -e 4K -n 3 -w 1 --rounds 2 --ranks-per-node 2 --variants 'ring@mixed,ring@shared'
expect_code 0 "nodes of two and of one"
expect_in out 'shared memory needs all ranks on one node; here are 2 of 3' "why shared memory did not run"
on_ranks 2 "$RINGMASTER" bench -b 4K -e 4K -n 3 -w 1 --rounds 2 --variants 'ring,ring@mixed'
expect_code 0 "one node"
expect_in out 'all ranks share one node: use ring@shared' "why mixed did not run"
expect_not_in out 'pretended' "a stamp on real nodes"
run "$RINGMASTER" bench --ranks-per-node 0 --check-only
expect_code 2 "nodes without ranks"
expect_in err 'ranks-per-node' "nodes without ranks"

small_config | sed 's/\[library, ring\]/[library, ring, "ring@mixed", "hierarchical@mixed(group=2)"]/' >mixed.yaml
on_ranks 4 "$RINGMASTER" run mixed.yaml --output mixed --ranks-per-node 2
expect_code 0 "training on two nodes"
expect_in out 'pretended nodes: 2 ranks each' "the stamp"
expect_in out '^- ring@mixed.* ran as ring \(ringmaster schedule, on shared memory inside nodes' "what ran"
hash_of() { grep '"point_end"' mixed/samples.jsonl | grep "\"point\": \?$1[,}]" | grep -oE '"parameter_hash": ?"[0-9a-f]+"'; }
[[ -n $(hash_of 1) && $(hash_of 1) == "$(hash_of 2)" ]] || fail "ring and ring@mixed end with other parameters"
finish
