# Sourced by scripts/run and scripts/test: which Debian packages are needed, and how they get here.
# shellcheck disable=SC2034 # used by who sources this

packages_build=(g++ cmake ninja-build pkg-config libopenmpi-dev openmpi-bin libhwloc-dev libyaml-cpp-dev libfmt-dev
  libcli11-dev nlohmann-json3-dev libeigen3-dev libopenblas-openmp-dev libxxhash-dev)
packages_test=(libgtest-dev libbenchmark-dev librapidcheck-dev python3-minimal git ca-certificates)
packages_all=(clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev file dpkg-dev)

# missing_packages PACKAGE...: prints those that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev}\n' "$@" 2>/dev/null |
    awk '$2 ~ /^ii/ { sub(/:.*/, "", $1); print $1 }') || true # dpkg-query fails where one is unknown: then it is missing
  local package
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || printf '%s\n' "$package"
  done
}

# ensure_packages PACKAGE...: installs what is missing with apt as root; otherwise prints the line to run and ends with 2.
ensure_packages() {
  command -v dpkg-query >/dev/null || return 0 # no Debian: CMake says what is missing
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return 0
  if ((EUID != 0)); then
    echo "ringmaster: error: packages are missing; run: sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  echo "ringmaster: installing ${missing[*]}" >&2
  local log
  log=$(mktemp)
  if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    echo "ringmaster: error: apt-get failed; run: apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  rm -f "$log"
}

# processing_units: how many this shell may use.
processing_units() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# physical_cores: cores (not hardware threads) among the processing units that this shell may use.
physical_cores() {
  local cores units
  units=$(processing_units)
  cores=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  ((cores >= 1 && cores < units)) && echo "$cores" || echo "$units"
}

# A GPU is what decides whether CUDA is built.
gpu_present() { compgen -G '/dev/nvidia[0-9]*' >/dev/null; }
