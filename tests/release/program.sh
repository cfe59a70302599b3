# program.sh BAPI: the single file runs where none of its libraries is installed.
set -eu
bapi=$1
"$bapi" --version
if ldd "$bapi" > /dev/null 2>&1; then
  echo "$bapi needs shared libraries:" >&2
  ldd "$bapi" >&2
  exit 1
fi
. /tests/study.sh
echo "The single file works on Debian $(cat /etc/debian_version)"
