#!/usr/bin/env bash
# coll/han on two nodes of two ranks: a host name of its own makes a node of a daemon. Needs the right to have them.
set -euo pipefail
unshare --uts true 2>/dev/null || { echo "skipped: host names of its own need unshare --uts"; exit 77; }
version=$("$MPIEXEC" --version)
[[ $version == *Open* ]] || { echo "skipped: only Open MPI has coll/han; this is $version"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/agent" <<'EOF'
#!/usr/bin/env bash
# agent HOST COMMAND...: as ssh would, on this machine under that name.
exec unshare --uts bash -c 'hostname "$0" && exec bash -c "$*"' "$@"
EOF
chmod +x "$work/agent"
RINGMASTER_EXPECTS_HAN=1 timeout 120 "$MPIEXEC" --mca plm_rsh_agent "$work/agent" --mca oob_tcp_if_include lo \
  --mca btl_tcp_if_include lo --mca btl tcp,vader,self -x RINGMASTER_EXPECTS_HAN -H nodea:2,nodeb:2 -np 4 \
  "$PROGRAM" --gtest_filter='*HanWorksBetweenNodes*'
