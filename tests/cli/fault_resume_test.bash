# A run goes on only as itself: with its own data and its own checkpoints, in a folder that no other job writes. What
# cannot go on says so, and its folder too.
source "$(dirname "$0")/lib.bash"
for i in $(seq 400); do echo "line $i of a text to learn from: $((i * i % 97)) $((i * 7 % 31))"; done >text.txt
text_config() {
  cat <<'YAML'
name: learns
model: {kind: transformer, layers: 1, width: 32, heads: 2, context: 16}
data: {kind: text, path: text.txt}
train: {batch: 4, checkpoint: {folder: deep/checkpoints, every: 20}}
measure: {rounds: 40, steps: 20, warmup: 1, held_out: 8}
sweep:
  communication.collective: [library, ring]
YAML
}
text_config >learns.yaml
# started N NAME BLOCKS: a job in the background that has stored so many lines.
started() {
  timeout 120 mpirun -np "$1" "$RINGMASTER" run learns.yaml --output "$2" >job.out 2>job.err </dev/null &
  job=$!
  wait_for 60 has_lines "$2/samples.jsonl" "$3" || fail "the run $2 does not get going"
}
ended() {
  kill -9 "$(pgrep -P "$(pgrep -P $job -x mpirun || echo $job)" -x ringmaster | tail -n 1)"
  wait $job
}
hashes() { grep -oE '"parameter_hash": ?"[0-9a-f]+"' "$1/samples.jsonl" | sort; }

on_ranks 2 "$RINGMASTER" run learns.yaml --output whole
expect_code 0 "an unbroken run whose checkpoint folder is made"
[[ -d deep/checkpoints ]] || fail "the checkpoint folder was not made"

started 2 two 8
on_ranks 2 "$RINGMASTER" run learns.yaml --output two --resume
expect_code 2 "two jobs in one folder"
expect_in err 'two: another job is writing this folder' "two jobs in one folder"
ended
# Checkpoints of the same name from another rank count stand where its own did.
started 3 three 8
ended
on_ranks 2 "$RINGMASTER" run learns.yaml --output two --resume
expect_code 0 "resume among another run's checkpoints"
[[ -n $(hashes whole) && $(hashes two) == "$(hashes whole)" ]] || fail "resumed and unbroken training differ"

# Other data under the same name.
started 2 other 8
ended
cp text.txt kept.txt
sed 's/learn/forget/' kept.txt >text.txt
on_ranks 2 "$RINGMASTER" run learns.yaml --output other --resume
expect_code 2 "resumed with other data"
expect_in err 'the data of .* differ' "other data"
expect_in other/run.json '"status": "interrupted"' "refused, and still to be resumed"
cp kept.txt text.txt
on_ranks 2 "$RINGMASTER" run learns.yaml --output other --resume
expect_code 0 "resumed with its own data"
[[ $(hashes other) == "$(hashes whole)" ]] || fail "resumed training differs"

# A file that is cut while it is mapped.
started 2 cut 8
: >text.txt
code=0
wait $job || code=$?
[[ $code != 0 ]] || fail "a data file that was cut went unnoticed"
expect_in job.err 'became shorter' "a data file that was cut"
expect_in cut/run.json '"status": "interrupted"' "a data file that was cut"
cp kept.txt text.txt

# Wrong from the start: not "running" for ever, and the folder may be used again.
mkfifo pipe
sed 's/text.txt/pipe/' learns.yaml >pipe.yaml
on_ranks 2 "$RINGMASTER" run pipe.yaml --output wrong
expect_code 2 "data that cannot be read"
expect_in wrong/run.json '"status": "failed"' "data that cannot be read"
touch file
on_ranks 2 "$RINGMASTER" run learns.yaml --output wrong --set train.checkpoint.folder=file/below
expect_code 2 "a checkpoint folder that cannot be"
expect_in err "train.checkpoint.folder: 'file/below' cannot be used" "a checkpoint folder that cannot be"

# A loss that is not finite has no row; it has a line.
small_config | sed 's/batch: 8/batch: 8, optimizer: sgd, learning_rate: 100000/' >diverges.yaml
on_ranks 2 "$RINGMASTER" run diverges.yaml --output diverged
expect_code 0 "a sweep goes on"
expect_in out 'the loss is not finite' "a point that diverged"
finish
