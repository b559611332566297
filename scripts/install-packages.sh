#!/bin/sh
# Installs Debian packages without starting their services. Usage, as root: install-packages.sh PACKAGE...
set -eu
export DEBIAN_FRONTEND=noninteractive
# Debian runs this program before it starts a service after an installation; 101 forbids the start.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM HUP
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
apt-get update -q
apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
