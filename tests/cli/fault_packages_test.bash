# Without root and with packages missing, scripts/run prints the apt line and ends with 2.
source "$(dirname "$0")/lib.bash"
mkdir bin
printf '#!/bin/sh\nexit 1\n' >bin/dpkg-query
chmod -R a+rx . bin
as_nobody=()
if ((EUID == 0)); then
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  cp -r "$REPOSITORY/scripts" scripts
  chmod -R a+rX . "$work"
  script=$PWD/scripts/run
else
  script=$REPOSITORY/scripts/run
fi
run env PATH="$PWD/bin:$PATH" "${as_nobody[@]}" bash "$script"
expect_code 2 "packages missing"
expect_line err 1 '^ringmaster: error: .*apt-get install .*g\+\+ cmake' "packages missing"
for arguments in "--np 0" "--np x" "--wrong" "--np"; do
  # shellcheck disable=SC2086
  run "$REPOSITORY/scripts/run" $arguments
  expect_code 2 "scripts/run $arguments"
  expect_line err 1 '^ringmaster: error: ' "scripts/run $arguments"
done
finish
