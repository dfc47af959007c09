# What ./demo and ./check share: installs what is missing, and builds. Sourced by bash; REQUIRES: $root is the repository.

say() { printf '\n== %s\n' "$*" >&2; }
stop() { printf '\nerror: %s\n' "$*" >&2; exit 1; }

missing_packages() {
  local name rest
  while read -r name rest; do
    case $name in '' | '#'*) continue ;; esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || echo "$name"
  done < "$root/tools/packages.txt"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# Debian's package starts a server of its own when it is first installed. Nobody asked for one: for the time of that
# installation it is told not to. A server that is there already is not touched.
install_postgresql_without_server() {
  local folder=/etc/postgresql-common/createcluster.d
  local file=$folder/espalier-set-up.conf
  local result=0
  apt_install postgresql-common || return 1
  as_root mkdir -p "$folder"
  echo 'create_main_cluster = false' | as_root tee "$file" >/dev/null
  apt_install postgresql || result=1
  as_root rm -f "$file"
  as_root rmdir --ignore-fail-on-non-empty "$folder"
  return $result
}

install_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    stop "this is no Debian system; install the counterparts of tools/packages.txt, then build with: cmake --preset release && ninja -C build/release"
  local missing
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
    stop "packages are missing, and installing them needs root. Run this, then try again:
  sudo apt-get install $(echo $missing)"
  fi
  say "installing $(echo "$missing" | wc -w) Debian packages: $(echo $missing)"
  as_root apt-get update -q >&2 || stop "apt-get update failed"
  case " $(echo $missing) " in
    *' postgresql '*) install_postgresql_without_server || stop "PostgreSQL could not be installed" ;;
  esac
  missing=$(missing_packages)
  [ -z "$missing" ] || apt_install $missing || stop "packages could not be installed"
  missing=$(missing_packages)
  [ -z "$missing" ] || stop "still missing after the installation: $(echo $missing)"
}

# PyTorch for the tests of the Python package, unless an interpreter that has it is named. Without it they are not run.
install_pytorch() {
  [ -z "${ESPALIER_PYTORCH:-}" ] || return 0
  local environment=$root/build/pytorch
  [ ! -x "$environment/bin/python" ] || ! "$environment/bin/python" -c 'import torch, safetensors' 2>/dev/null || return 0
  say "installing PyTorch into build/pytorch"
  rm -rf "$environment"
  python3 -m venv "$environment" && "$environment/bin/pip" install --quiet torch==2.13.0 numpy safetensors==0.8.0 >&2 && return 0
  rm -rf "$environment"
  say "PyTorch cannot be installed from PyPI: tests of the Python package are not run"
}

# What the tests of the package's adapters need besides, in an environment of its own that sees PyTorch's. Without it they are not run.
install_adapters() {
  local python=${ESPALIER_PYTORCH:-$root/build/pytorch/bin/python}
  local environment=$root/build/adapters
  local wanted=$root/tests/python/adapters/requirements.txt
  [ -z "${ESPALIER_ADAPTERS:-}" ] && [ -x "$python" ] || return 0
  ! cmp -s "$wanted" "$environment/installed.txt" || return 0
  say "installing Lightning, transformers and accelerate into build/adapters"
  make_environment_beside_pytorch "$python" "$environment" "$wanted" && return 0
  rm -rf "$environment"
  say "what is pinned in $wanted cannot be installed from PyPI: tests of the adapters are not run"
}

# What the tests of the Python client need besides, likewise. Without it those that need a server are not run.
install_python_client() {
  local python=${ESPALIER_PYTORCH:-$root/build/pytorch/bin/python}
  local environment=$root/build/python_client
  local wanted=$root/tests/python_client/requirements.txt
  [ -z "${ESPALIER_PYTHON_CLIENT:-}" ] && [ -x "$python" ] || return 0
  ! cmp -s "$wanted" "$environment/installed.txt" || return 0
  say "installing grpcio, protobuf, pandas, matplotlib, Optuna, TensorBoard and a kernel for notebooks into build/python_client"
  make_environment_beside_pytorch "$python" "$environment" "$wanted" && return 0
  rm -rf "$environment"
  say "what is pinned in $wanted cannot be installed from PyPI: tests of the Python client are not run"
}

# What the tests of the client's bridges need besides, in an environment of its own that sees the client's. Without it they are not run.
install_bridges() {
  local python=${ESPALIER_PYTHON_CLIENT:-$root/build/python_client/bin/python}
  local environment=$root/build/bridges
  local wanted=$root/tests/python_client/bridges/requirements.txt
  [ -z "${ESPALIER_BRIDGES:-}" ] && [ -x "$python" ] || return 0
  ! cmp -s "$wanted" "$environment/installed.txt" || return 0
  say "installing MLflow, Weights & Biases, MCP and Hydra into build/bridges"
  make_environment_beside_pytorch "$python" "$environment" "$wanted" && return 0
  rm -rf "$environment"
  say "what is pinned in $wanted cannot be installed from PyPI: tests of the Python client's bridges are not run"
}

# What the site of the documents is built with, in an environment of its own. Without it the site is not built.
install_site() {
  local environment=$root/build/site_tools
  local wanted=$root/tools/site/requirements.txt
  ! cmp -s "$wanted" "$environment/installed.txt" || return 0
  say "installing Sphinx into build/site_tools"
  rm -rf "$environment"
  python3 -m venv "$environment" && "$environment/bin/pip" install --quiet --no-deps --require-hashes -r "$wanted" >&2 &&
    cp "$wanted" "$environment/installed.txt" && return 0
  rm -rf "$environment"
  say "what is pinned in $wanted cannot be installed from PyPI: the site of the documents is not built"
}

# All of these, one after another.
install_environments() {
  install_pytorch
  install_adapters
  install_python_client
  install_bridges
  install_site
}

# make_environment_beside_pytorch PYTHON FOLDER REQUIREMENTS: an environment of its own that sees PYTHON's packages.
make_environment_beside_pytorch() {
  rm -rf "$2"
  "$1" -m venv "$2" &&
    "$1" -c 'import pathlib, sys, torch
folders = [*(each for each in sys.path if each.endswith("site-packages")), str(pathlib.Path(torch.__file__).parents[1])]
print(*dict.fromkeys(folders), sep="\n")' \
      > "$("$2/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pytorch.pth" &&
    "$2/bin/pip" install --quiet --no-deps --require-hashes -r "$3" >&2 && cp "$3" "$2/installed.txt"
}

# configure PRESET
configure() {
  say "configuring build/$1"
  (cd "$root" && cmake --preset "$1" >"$root/build/$1.configure.log" 2>&1) || {
    cat "$root/build/$1.configure.log" >&2
    stop "configuring build/$1 failed"
  }
}

# build PRESET [TARGET ...]
build() {
  local preset=$1
  shift
  say "building build/$preset (the first time: some minutes; after that: what changed)"
  ninja -C "$root/build/$preset" -j "$(nproc)" "$@" >&2 || stop "building build/$preset failed"
}

mkdir -p "$root/build"
