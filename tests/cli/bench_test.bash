# bench: nccl-tests' columns, right sums, human and JSON, flags that are wrong.
source "$(dirname "$0")/lib.bash"
on_ranks 2 "$RINGMASTER" bench -b 1K -e 64K -f 4 -n 5 -w 2 -c 1 --rounds 3 --variants library,ring,direct --json bench.json
expect_code 0 "bench"
expect_in out 'size +count +type +redop +root +time +algbw +busbw +#wrong' "columns"
expect_in out '^ +65536 +16384 +float +sum +-1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +0 +[0-9.]+ +[0-9.]+ +[0-9.]+ +0' "a row"
expect_in out '^ +65536 +ring +(no difference|[0-9.]+x (faster|slower)) \[' "verdicts"
expect_file bench.json
expect_in bench.json '"size_bytes": 65536' "JSON"
expect_in bench.json 'busbw_gb_per_s' "JSON"
for arguments in "-b 1X" "-b 4M -e 1M" "-n 0" "-f 1" "--variants rign" "--type fp8" "--op prod" "-b 1 -e 1T -i 1" \
  "--timeout 0" "--timeout=-3" "--timeout nan" "--timeout inf" "--timeout 1x" "--seed -1" "--seed=-1" \
  "--seed 99999999999999999999" "--seed 1e3" "--variants ring,,tree" "--variants ring," "--variants ,ring" \
  "--json - --csv -" "--json both --csv both"; do
  # shellcheck disable=SC2086
  run "$RINGMASTER" bench $arguments --check-only
  expect_code 2 "bench $arguments"
  [[ $(wc -l <err) == 1 ]] || fail "bench $arguments: not one line: $(cat err)"
done
on_ranks 2 "$RINGMASTER" bench -b 4 -e 1M -f 262144 -n 2 -w 1 --rounds 2 --variants all --json all.json
expect_code 0 "bench of everything"
expect_in out '^# .*direct\(form=one-shot\)' "each choice of a builder"
expect_in all.json '"variant": "library-han"' "the hierarchical row, or why not"
expect_in all.json '"role": "baseline"' "one baseline"
if mpirun --version | grep -c 'Open MPI' >/dev/null; then
  expect_in out '^# library-algorithm\(id=ring\): MPI_Allreduce as ring that became recursive-doubling \(count < ranks\)' "what ran"
  expect_in out '^# from here: MPI_Allreduce as ring \(Open MPI' "what ran from there"
  expect_in out '^# library-algorithm\(id=segmented-ring,segment=64K\)' "segments"
  single=(bench -b 1K -e 1K -n 2 -w 1 --rounds 2 --variants 'library,library-algorithm(id=segmented-ring,segment=64K)')
  on_ranks 2 --mca coll_tuned_use_dynamic_rules 0 "$RINGMASTER" "${single[@]}"
  expect_in out 'not run: coll_tuned_use_dynamic_rules is off' "the user's own switch"
  on_ranks 2 --mca coll ^tuned "$RINGMASTER" "${single[@]}"
  expect_in out 'not run: Open MPI runs without coll/tuned' "no coll/tuned"
  echo 0 >rules
  on_ranks 2 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "$PWD/rules" "$RINGMASTER" "${single[@]}"
  expect_in out 'not run: your rules file' "a rules file"
  on_ranks 2 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4 "$RINGMASTER" "${single[@]}"
  expect_in out '^# library: MPI_Allreduce \(.*, forced to ring\)' "what the user forced"
  on_ranks 1 "$RINGMASTER" "${single[@]}"
  expect_in out 'not run: one rank has nothing to reduce' "one rank"
fi
for type in half bfloat16 int8 uint8 int32 int64; do
  for op in sum min max avg; do
    on_ranks 3 "$RINGMASTER" bench -b 8 -e 8K -f 1024 -n 1 -w 0 --rounds 1 --type $type --op $op \
      --variants library,library-nonblocking,ring,rabenseifner@shared
    expect_code 0 "$type, $op"
    [[ $(grep -c 'Out of bounds values : 0 OK' out) == 4 ]] || fail "$type, $op: $(cat out)"
    expect_in out "^ +8192 +[0-9]+ +$type +$op " "a row of $type, $op"
  done
done
run "$RINGMASTER" bench -b 1 -e 1T -i 1 --check-only
expect_line err 1 '^error: more than 10000 sizes are too many \(' "sizes without end"
for option in --variants --json --csv --output --segment --step --timeout --seed; do
  run "$RINGMASTER" bench "$option" "" --check-only
  expect_code 2 "an empty $option"
  expect_line err 1 "^error: $option: expects a value, got an empty one \(" "an empty $option"
done
run "$RINGMASTER" bench --variants "direct(form=one-shot),ring" tree --seed 7 --timeout 0.5 --check-only
expect_code 0 "variants in one list and in several words"
run "$RINGMASTER" bench --against nccl --check-only
expect_line err 1 "^error: --against: unknown opponent 'nccl'" "an opponent that is not there"
on_ranks 2 "$RINGMASTER" bench -b 4K -e 4K -n 2 -w 1 --rounds 4 --variants ring@shared --against mpi --json against.json
expect_code 0 "the best against the best"
expect_in out '^ +4096 +in-place +ring@shared +library[^ ]* +[0-9.]+ +[0-9.]+x +\[' "a ratio with its interval"
expect_in out '^# in-place, geometric mean: [0-9.]+x' "the mean over sizes"
expect_in against.json '"copy_bound_share": [0-9]' "a share of the bound"
on_ranks 3 "$RINGMASTER" bench -b 4 -e 12 -i 4 -n 2 -w 1 --rounds 2
expect_code 0 "bench of counts near the rank count"
expect_not_in out ' [1-9][0-9]* +[0-9.]+ +[0-9.]+ +[0-9.]+ +[1-9][0-9]*$' "wrong sums"
finish
