#!/bin/sh
# holdpoint-hook shim: guards this repository; `holdpoint uninstall` takes it out.
bin=@PROGRAM@
test -x "$bin" && exec "$bin" git --as "$0" @EVENT@ "$@"
echo "holdpoint: $bin is gone, so this repository is not guarded; install holdpoint again, or remove $0" >&2
test -x "$0.holdpoint-prior" && exec "$0.holdpoint-prior" "$@"
exit 0
