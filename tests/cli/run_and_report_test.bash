# A whole run on two ranks: what the terminal says, which files are there, and that report shows the same again.
source "$(dirname "$0")/lib.bash"
small_config >small.yaml
on_ranks 2 "$RINGMASTER" run small.yaml --json all.json
expect_code 0 "run"
for file in run.json samples.jsonl summary.csv report.html trace.json; do expect_file "results/small/$file"; done
expect_file all.json
expect_in out 'library' "terminal"
expect_in out 'ring' "terminal"
expect_in out '([0-9.]+x (faster|slower)|no difference) \[[0-9.]+, [0-9.]+\]' "verdict"
expect_in out 'busbw' "terminal"
expect_in out 'results/small' "where the files are"
expect_in results/small/run.json '"status": "complete"' "run.json"
expect_in results/small/run.json '"schema_version": 1' "run.json"
expect_in err '^ringmaster: [0-9]+/[0-9]+ blocks' "progress in plain lines"

run "$RINGMASTER" report results/small
expect_code 0 "report"
expect_in out '\[[0-9.]+, [0-9.]+\]' "report"
run "$RINGMASTER" report results/small --json - --quiet
expect_code 0 "report --json"
expect_line out 1 '^\{' "report --json"

# A finished folder is never overwritten unasked; the next run goes beside it.
on_ranks 2 "$RINGMASTER" run small.yaml --output results/small
expect_in err 'results/small' "overwrite refused"
[[ $code != 0 ]] || fail "a finished run was overwritten"
on_ranks 2 "$RINGMASTER" run small.yaml --quiet
expect_code 0 "second run"
expect_file results/small-2/run.json

# compare: the same machine and config twice.
run "$RINGMASTER" compare results/small results/small-2
expect_code 0 "compare"
expect_in out 'ring' "compare"
run "$RINGMASTER" compare results/small results/nowhere
expect_code 2 "compare with nothing"

# publish: no host, user or path is left.
run "$RINGMASTER" report results/small --publish published --quiet
expect_code 0 "publish"
expect_file published/run.json
for file in published/*; do
  expect_not_in "$file" "$(hostname)" "publish"
  expect_not_in "$file" "$work" "publish"
done
expect_in published/run.json 'node0' "publish"

# A damaged samples file says where.
cp -r results/small damaged
sed -i '1s/^./x/' damaged/samples.jsonl
run "$RINGMASTER" report damaged
expect_code 2 "damaged"
expect_in err 'samples.jsonl:1' "damaged"
# A torn last line is what a killed run leaves: dropped.
cp -r results/small torn
head -c -20 results/small/samples.jsonl >torn/samples.jsonl
run "$RINGMASTER" report torn
expect_code 0 "torn"
finish
