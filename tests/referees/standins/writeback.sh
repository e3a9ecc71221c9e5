# Write-through to write-back as DBMMN has it, with here-documents, as root on each cell in turn.
while read -r cell; do
    ssh "root@$cell" <<'E2'
mode=$(cellcli -e list cell attributes flashcachemode | tr -d '[:blank:]')
if [ "$mode" = WriteThrough ]; then
    cellcli -e drop flashcache
    su - celladmin -c "cellcli -e alter cell flashCacheMode=writeback"
    cellcli -n -x <<CLI
create flashcache all
CLI
fi
echo "$(hostname): $mode -> $(cellcli -e list cell attributes flashcachemode | awk '{print $1}')"
E2
done < "$1"
