#!/usr/bin/env bash
# The .deb builds, lintian finds no error, and what it unpacks runs. BUILD and VERSION come from CTest.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && cpack --config "$BUILD/CPackConfig.cmake" -G DEB -B "$work/out") >"$work/cpack.log" 2>&1 || {
  tail -n 20 "$work/cpack.log"
  exit 1
}
package=$(echo "$work"/out/ringmaster_*.deb)
[[ -f $package ]] || { echo "no package was made"; exit 1; }
if command -v lintian >/dev/null; then
  # No changelog in Debian's form and no copyright file: those belong to a distribution's packaging.
  lintian --fail-on error --suppress-tags no-copyright-file,no-changelog --allow-root "$package"
else
  echo "lintian is not here: the package was not checked by it"
fi
dpkg-deb -x "$package" "$work/root"
said=$("$work/root/usr/bin/ringmaster" --version)
echo "$said"
[[ $said == *"$VERSION"* ]] || { echo "expected version $VERSION"; exit 1; }
[[ -f $work/root/usr/share/ringmaster/configs/quickstart.yaml ]] || { echo "no quickstart config"; exit 1; }
"$work/root/usr/bin/ringmaster" validate "$work/root/usr/share/ringmaster/configs/quickstart.yaml"
