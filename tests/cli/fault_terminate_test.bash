# SIGTERM, a scheduler's preemption: what is measured is flushed, every rank ends with 143, run.json says so, and
# scripts/run returns 143; after SIGHUP, a lost connection, 129.
source "$(dirname "$0")/lib.bash"
small_config | sed 's/rounds: 3/rounds: 400/; s/steps: 2/steps: 20/' >long.yaml
cat >wrapped <<'SH'
#!/bin/bash
"$@" &
child=$!
trap 'kill -TERM $child' TERM
code=0
wait $child || code=$?
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
echo "rank $OMPI_COMM_WORLD_RANK ended with $code" >>codes
exit $code
SH
chmod +x wrapped
timeout 120 mpirun -np 2 ./wrapped "$RINGMASTER" run long.yaml --output ended >out 2>err </dev/null &
job=$!
wait_for 60 has_lines ended/samples.jsonl 8 || fail "the run does not get going"
ranks=$(pgrep -f "$RINGMASTER run long.yaml --output ended" | while read -r pid; do
  [[ $(cat "/proc/$pid/comm" 2>/dev/null) == ringmaster ]] && echo "$pid"; done)
begin=$(date +%s%N)
# shellcheck disable=SC2086
kill -TERM $ranks
wait_for 10 has_lines codes 2 || fail "the ranks do not end"
took_ms=$((($(date +%s%N) - begin) / 1000000))
((took_ms < 3000)) || fail "ending took $took_ms ms"
wait $job
[[ $(grep -c 'ended with 143' codes) == 2 ]] || fail "the ranks' codes: $(cat codes)"
expect_in ended/run.json '"status": "interrupted"' "run.json"
expect_in ended/run.json 'SIGTERM' "run.json"
expect_in err 'SIGTERM' "what a rank says"
run "$RINGMASTER" report ended
expect_code 0 "report"

if [[ -x $REPOSITORY/build/release/src/cli/ringmaster ]]; then
  for signal in TERM:143 HUP:129; do
    name=${signal%:*}
    "$REPOSITORY/scripts/run" --np 2 -- run "$PWD/long.yaml" --output "$PWD/$name" >out 2>err </dev/null &
    job=$!
    wait_for 100 has_lines "$name/samples.jsonl" 8 || fail "scripts/run does not get going"
    kill -"$name" $job
    code=0
    wait $job || code=$?
    expect_code "${signal#*:}" "scripts/run after SIG$name"
    expect_in "$name/run.json" '"status": "interrupted"' "run.json of scripts/run"
    no_rank_left() { ! pgrep -f "run $PWD/long.yaml --output $PWD/$name" >/dev/null; }
    wait_for 10 no_rank_left || fail "SIG$name left the job running"
  done
fi
finish
