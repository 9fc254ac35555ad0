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
for both in "--json - --csv -" "--html - --csv -" "--trace x --html x"; do
  # shellcheck disable=SC2086
  run "$RINGMASTER" report results/small $both
  expect_code 2 "report $both"
  expect_line err 1 '^error: --(json|csv) and --|^error: --html and --trace' "report $both"
  [[ ! -s out ]] || fail "report $both: wrote all the same"
done
run "$RINGMASTER" report results/small --html -
expect_code 0 "report --html"
expect_line out 1 '^<!' "report --html"
run "$RINGMASTER" run small.yaml --check-only --json - --csv -
expect_code 2 "run with two files on the standard output"

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
for share in "" 5 1.5 x 5%% -1 nan; do
  run "$RINGMASTER" compare results/small results/small-2 --fail-above="$share"
  expect_code 2 "compare --fail-above '$share'"
  expect_line err 1 '^error: --fail-above.* \(' "compare --fail-above '$share'"
  [[ ! -s out ]] || fail "compare --fail-above '$share': compared all the same"
done
run "$RINGMASTER" compare results/small results/small-2 --fail-above 5
expect_in err '5%, or 0.05' "compare --fail-above 5"
for share in 9999% 1 0.99; do
  run "$RINGMASTER" compare results/small results/small --fail-above "$share"
  expect_code 0 "compare --fail-above $share"
done
run "$RINGMASTER" compare results/small results/nowhere
expect_code 2 "compare with nothing"

# publish: a bad folder is a mistake of --publish, not of --output.
run "$RINGMASTER" report results/small --publish results/small --quiet
expect_code 2 "publish into a finished run"
expect_in err 'another folder for --publish, or replace' "publish into a finished run"
run "$RINGMASTER" report results/small --publish small.yaml --quiet
expect_code 2 "publish into a file"
expect_in err 'another folder for --publish\)' "publish into a file"
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
