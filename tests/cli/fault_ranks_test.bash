# Ranks that do not fit together, processes started alone, too many of them, and a loss that is no number.
source "$(dirname "$0")/lib.bash"
small_config >small.yaml
run timeout 60 mpirun -np 1 "$RINGMASTER" run small.yaml --output a : -np 1 "$RINGMASTER" run small.yaml --output b
[[ $code != 0 ]] || fail "ranks with different arguments ran"
expect_in err 'command line differs' "different arguments"
[[ ! -e a && ! -e b ]] || fail "something ran"

run env OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=2 PMI_RANK=0 timeout 60 "$RINGMASTER" run small.yaml
expect_code 2 "a process that was started alone"
expect_in err 'started 2 processes' "a process that was started alone"

units=$(env -u OMP_NUM_THREADS nproc)
on_ranks $((units * 2)) "$RINGMASTER" run small.yaml --output crowded
expect_code 0 "more ranks than cores"
expect_in out 'oversubscribed: .*not a performance result' "more ranks than cores"

sed 's/train: .*/train: {batch: 8, optimizer: sgd, learning_rate: 1.0e+6}/' small.yaml >nan.yaml
on_ranks 2 "$RINGMASTER" run nan.yaml --output nan
expect_code 0 "a loss that is no number"
expect_in out 'nan|NaN|diverged' "the mark of a diverged point"
expect_in nan/run.json '"status": "complete"' "the sweep goes on"
finish
