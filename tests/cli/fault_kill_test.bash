# A rank dies in the middle of a sweep: the job ends soon, survivors say where they were, what was measured is kept,
# nothing stays in /dev/shm, and --resume completes the rest but refuses another config.
source "$(dirname "$0")/lib.bash"
small_config | sed 's/rounds: 3/rounds: 400/; s/steps: 2/steps: 20/' >long.yaml
ls /dev/shm >shm_before
timeout 120 mpirun -np 3 "$RINGMASTER" run long.yaml --output killed >out 2>err </dev/null &
job=$!
wait_for 60 has_lines killed/samples.jsonl 12 || fail "the run does not get going"
victim=$(pgrep -P "$(pgrep -P $job -x mpirun || echo $job)" -x ringmaster | tail -n 1)
begin=$SECONDS
kill -9 "$victim"
code=0
wait $job || code=$?
took=$((SECONDS - begin))
((took <= 30)) || fail "the job took $took s to end"
[[ $code != 0 ]] || fail "the job ended with 0"
expect_in err 'rank [0-9]+ on [^ ]+: .*was in .*step [0-9]+' "a survivor's words"
expect_in killed/run.json '"status": "interrupted"' "run.json"
expect_in killed/run.json '"activity": ".*step [0-9]+' "run.json"
# What a living process maps is another job's.
for name in $(ls /dev/shm | grep -vxFf shm_before); do
  grep -qsF "/dev/shm/$name" /proc/[0-9]*/maps || fail "something stays in /dev/shm: $name"
done
kept=$(grep -c '"block"\|"point"' killed/samples.jsonl)
((kept >= 12)) || fail "only $kept blocks were kept"
run "$RINGMASTER" report killed
expect_code 0 "report of an interrupted run"
expect_in out 'interrupted' "report of an interrupted run"

# Resume: a shorter run of the same kind.
small_config | sed 's/rounds: 3/rounds: 30/; s/steps: 2/steps: 20/' >short.yaml
timeout 120 mpirun -np 2 "$RINGMASTER" run short.yaml --output again >out 2>err </dev/null &
job=$!
wait_for 60 has_lines again/samples.jsonl 10 || fail "the run does not get going"
kill -9 "$(pgrep -P "$(pgrep -P $job -x mpirun || echo $job)" -x ringmaster | head -n 1)"
wait $job
before=$(lines_in again/samples.jsonl)
on_ranks 2 "$RINGMASTER" run short.yaml --output again --resume --set train.batch=4
[[ $code != 0 ]] || fail "resumed with another config"
expect_in err 'config differs' "another config"
on_ranks 3 "$RINGMASTER" run short.yaml --output again --resume
[[ $code != 0 ]] || fail "resumed with another rank count"
expect_in err 'ranks' "another rank count"
on_ranks 2 "$RINGMASTER" run short.yaml --output again --resume
expect_code 0 "resume"
expect_in again/run.json '"status": "complete"' "resumed"
after=$(lines_in again/samples.jsonl)
((after > before)) || fail "nothing was added"
expect_in out 'two goes' "points measured in two goes are marked"
on_ranks 2 "$RINGMASTER" run short.yaml --output whole --quiet
expect_code 0 "an unbroken run"
# The same blocks, and the same training: the resumed parameters are those of the unbroken run, bit for bit.
hashes() { grep -oE '"parameter_hash": ?"[0-9a-f]+"' "$1/samples.jsonl" | sort; }
[[ -n $(hashes whole) && $(hashes again) == "$(hashes whole)" ]] || fail "resumed and unbroken training differ"

# A rank that stands still: the others notice within measure.timeout_s and take the job down.
small_config | sed 's/rounds: 3/rounds: 400/; s/steps: 2/steps: 20/' >long.yaml
timeout 120 mpirun -np 2 "$RINGMASTER" run long.yaml --output stopped --set measure.timeout_s=3 >out 2>err </dev/null &
job=$!
wait_for 60 has_lines stopped/samples.jsonl 4 || fail "the run does not get going"
victim=$(pgrep -P "$(pgrep -P $job -x mpirun || echo $job)" -x ringmaster | tail -n 1)
begin=$SECONDS
kill -STOP "$victim"
code=0
wait $job || code=$?
took=$((SECONDS - begin))
((took <= 30)) || fail "a job that stands still took $took s to end"
[[ $code != 0 ]] || fail "a job that stood still ended with 0"
expect_in err 'no progress for 3 s' "who noticed"
expect_in stopped/run.json '"status": "interrupted"' "run.json"
gone() { [[ ! -d /proc/$1 ]]; }
wait_for 15 gone "$victim" || { fail "the stopped rank is still there"; kill -9 "$victim"; }
finish
