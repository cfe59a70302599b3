# package.sh DEB: the Debian package installs with what it says it needs, and brings manual page and completion.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet=2
apt-get install --quiet=2 --yes --no-install-recommends "$1" > /dev/null
bapi=/usr/bin/bapi
"$bapi" --version
for file in bash-completion/completions/bapi zsh/vendor-completions/_bapi fish/vendor_completions.d/bapi.fish; do
  test -s "/usr/share/$file"
done
. /tests/study.sh
apt-get purge --quiet=2 --yes bapi > /dev/null
apt-get autoremove --quiet=2 --yes > /dev/null
echo "The package works on Debian $(cat /etc/debian_version)"
