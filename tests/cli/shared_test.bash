# Schedules on shared memory: in bench and in training, with the bits of the same schedule over messages.
source "$(dirname "$0")/lib.bash"
for memory in registered own; do
  on_ranks 3 "$RINGMASTER" bench -b 4 -e 300K -f 17 -n 3 -w 1 --rounds 2 --memory $memory \
    --variants 'library,direct@shared,direct@shared(form=one-shot),ring@shared,tree@shared,rabenseifner@shared'
  expect_code 0 "bench on shared memory, vectors $memory"
  expect_in out '^# direct@shared\(form=two-shot\).*: direct form=two-shot \(ringmaster schedule, on shared memory' "what ran"
  [[ $(grep -c 'Out of bounds values : 0 OK' out) == 6 ]] || fail "wrong sums, vectors $memory"
done
run "$RINGMASTER" bench --variants 'ring@shard' --check-only
expect_code 2 "an unknown transport"
expect_in err "unknown transport 'shard' \\(did you mean 'shared'" "an unknown transport"
run "$RINGMASTER" bench --variants 'library@shared' --check-only
expect_code 2 "the library on a transport of ours"
run "$RINGMASTER" bench --memory shared --check-only
expect_code 2 "an unknown memory"

small_config | sed 's/\[library, ring\]/[library, direct, "direct@shared", "ring@shared"]/' >shared.yaml
ls /dev/shm >shm_before
on_ranks 3 "$RINGMASTER" run shared.yaml --output shared
expect_code 0 "training on shared memory"
expect_in out '^- direct@shared.* ran as direct form=two-shot \(ringmaster schedule, on shared memory' "what ran"
hash_of() { grep '"point_end"' shared/samples.jsonl | grep "\"point\": \?$1[,}]" | grep -oE '"parameter_hash": ?"[0-9a-f]+"'; }
[[ -n $(hash_of 1) && $(hash_of 1) == "$(hash_of 2)" ]] || fail "direct and direct@shared end with other parameters"
sed 's/^name: small/name: slow\nplant: {link_latency_s: 0.001}/' shared.yaml >slow.yaml
on_ranks 2 "$RINGMASTER" run slow.yaml --output slow
expect_code 0 "a planted link"
expect_in out 'a planted link slows messages, not memory' "why shared memory did not run"
finish
