#!/usr/bin/env bash
# Our session turns coll/tuned's dynamic rules on. Does the plain library still run what it would run without them?
set -euo pipefail
table=$(mktemp -d)
trap 'rm -rf "$table"' EXIT
for ranks in 2 3 4 5 8; do
  for rules in 0 ours; do
    switch=()
    [[ $rules == 0 ]] && switch=(--mca coll_tuned_use_dynamic_rules 0)
    RINGMASTER_LIBRARY_TABLE=$table/$rules "$MPIEXEC" -np "$ranks" ${switch[@]+"${switch[@]}"} \
      "$PROGRAM" --gtest_filter='*WritesWhatThePlainLibraryRuns' >"$table/log" 2>&1 || { cat "$table/log"; exit 1; }
    if grep -q '\[  SKIPPED \]' "$table/log"; then cat "$table/log"; exit 77; fi
  done
  diff "$table/0" "$table/ours" || { echo "the decisions differ at $ranks ranks"; exit 1; }
  echo "$ranks ranks: $(wc -l <"$table/ours") sizes alike"
done
