# wheel.sh PYTHON WHEEL: the wheel installs and tunes without a compiler and without libraries of the system.
set -eu
if command -v g++ > /dev/null; then echo "there is a compiler here" >&2; exit 1; fi
folder=$(mktemp -d)
"$1" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-index "$2" 2> "$folder/pip.log" || { cat "$folder/pip.log" >&2; exit 1; }
cd "$folder"
"$folder/venv/bin/python" /tests/tune.py "$folder/venv/bin/bapi"
bapi=$folder/venv/bin/bapi
. /tests/study.sh
rm -rf "$folder"
