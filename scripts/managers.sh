#!/usr/bin/env bash
# Installs Holdpoint beside other hook managers, in both orders, and says whether
# every hook still runs and whether uninstall puts everything back.
#
#   MANAGERS=pre-commit,prek,lefthook,husky,git-lfs HOLDPOINT=/path/to/bin scripts/managers.sh
#
# Two answers are theirs, not ours: husky and lefthook put themselves in the
# place of what was there (until `holdpoint init` runs again), and git-lfs
# refuses to install over any existing hook.
#
# The managers must be on PATH; those that are not are skipped. Nothing outside
# a temporary directory is touched. Exit status: 0 all right, 1 something is not.
set -u
bin=${HOLDPOINT:?set HOLDPOINT to the directory of the holdpoint binaries}
managers=${MANAGERS:-pre-commit,prek,lefthook,husky,git-lfs}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export HOME=$top/home XDG_STATE_HOME=$top/state XDG_CONFIG_HOME=$top/config GIT_CONFIG_NOSYSTEM=1
export PATH=$bin:$PATH GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
mkdir -p "$HOME"
bad=0

say() { printf '%-12s %-12s %-34s %s\n' "$@"; }
check() { # manager order what condition...
  local m=$1 o=$2 what=$3; shift 3
  if "$@"; then say "$m" "$o" "$what" yes; else say "$m" "$o" "$what" NO; bad=1; fi
}
picture() { # hooks directory and configuration
  local hooks; hooks=$(git rev-parse --git-path hooks)
  { find .git/hooks "$hooks" -printf '%p %m %l\n' 2>/dev/null | sort -u
    find .git/hooks "$hooks" -type f -exec sha256sum {} + 2>/dev/null | sort -u
    sha256sum .git/config; } | sha256sum
}
theirs() { # installs the manager's own hooks
  case $1 in
    pre-commit|prek) "$1" install -q >/dev/null 2>&1 || "$1" install >/dev/null ;;
    lefthook) lefthook install >/dev/null 2>&1 ;;
    husky) husky >/dev/null; printf 'echo theirs >> ran\n' > .husky/pre-commit ;;
    git-lfs) git lfs install --local >/dev/null 2>&1 ;;
  esac
}
without_theirs() {
  case $1 in
    pre-commit|prek) "$1" uninstall >/dev/null 2>&1 ;;
    lefthook) lefthook uninstall >/dev/null 2>&1 ;;
    husky) git config --unset core.hooksPath; rm -rf .husky ;;
    git-lfs) git lfs uninstall --local >/dev/null 2>&1 ;;
  esac
}
settings() {
  case $1 in
    pre-commit|prek) printf 'repos:\n- repo: local\n  hooks:\n  - id: t\n    name: t\n    language: system\n    entry: sh -c "echo theirs >> ran"\n    always_run: true\n    pass_filenames: false\n' > .pre-commit-config.yaml ;;
    lefthook) printf 'pre-commit:\n  commands:\n    t:\n      run: echo theirs >> ran\n' > lefthook.yml ;;
    git-lfs) printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' > .gitattributes ;;
  esac
}
they_run() {
  rm -f ran; echo "$RANDOM" > b; git add b
  if [ "$1" = git-lfs ]; then
    git commit -qm b >/dev/null 2>&1; grep -q 'git lfs' "$(git rev-parse --git-path hooks)"/pre-push* 2>/dev/null; return
  fi
  git commit -qm b >/dev/null 2>&1; [ -f ran ] && grep -q theirs ran
}
we_run() { # a commit that deletes a file is held
  [ -f victim ] || { echo v > victim; git add victim; git commit -qm again >/dev/null 2>&1; }
  git rm -q victim >/dev/null; ! git commit -qm gone >/dev/null 2>"$top/err" && grep -q 'holdpoint confirm' "$top/err"
  local held=$?; git reset -q HEAD victim 2>/dev/null; git checkout -q -- victim 2>/dev/null; return $held
}
same() { [ "$1" = "$2" ]; }

IFS=, read -ra list <<< "$managers"
for m in "${list[@]}"; do
  command -v "$m" >/dev/null || { say "$m" - "not on PATH" skipped; continue; }
  for order in theirs-first ours-first; do
    repo=$top/$m-$order; mkdir -p "$repo"; cd "$repo" || exit 1
    git init -q -b main .; settings "$m"; printf 'ran\n.ccg\n' > .gitignore; echo v > victim; git add -A; git commit -qm one
    if [ $order = theirs-first ]; then
      theirs "$m"; before=$(picture); holdpoint init >/dev/null || bad=1
    else
      bare=$(picture); holdpoint init >/dev/null; theirs "$m"
    fi
    check "$m" $order "their hook runs" they_run "$m"
    check "$m" $order "ours holds a deletion" we_run
    holdpoint init > /dev/null 2>&1
    check "$m" $order "after init again, theirs runs" they_run "$m"
    check "$m" $order "after init again, ours holds" we_run
    holdpoint uninstall >/dev/null
    check "$m" $order "after uninstall, theirs runs" they_run "$m"
    if [ $order = theirs-first ]; then
      check "$m" $order "hooks and config as before" same "$(picture)" "$before"
    else
      without_theirs "$m"
      check "$m" $order "hooks and config as at first" same "$(picture)" "$bare"
    fi
  done
done
exit $bad
