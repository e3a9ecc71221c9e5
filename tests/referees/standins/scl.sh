# CellCLI's own script, copied and run by dcli -x, then read from standard input and by @.
here=$(dirname "$0")
cp "$here/batch.scl" . && chmod u+x batch.scl
dcli -g "$1" -l celladmin -x batch.scl | grep -c FLASHCACHE
cellcli -n -x < batch.scl | grep -c DATA_CD
cellcli -e @batch.scl | grep -c '^list'
