# CellCLI's own script, copied and run by dcli -x, then read from standard input and by @.
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -r "$work"' EXIT && cd "$work" || exit 1
cp "$here/batch.scl" . && chmod u+x batch.scl
dcli -g "$1" -l celladmin -x batch.scl | grep -c FLASHCACHE
cellcli -n -x < batch.scl | grep -c DATA_CD
cellcli -e @batch.scl | grep -c '^list'
