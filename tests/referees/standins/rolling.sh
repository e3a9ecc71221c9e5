# The gate of every rolling patch: grid disks that can't be taken offline now, cell by cell over ssh.
while read -r cell; do
    left=$(ssh -n "root@$cell" "cellcli -e \"list griddisk attributes name where asmdeactivationoutcome != 'Yes'\"" | wc -l)
    states=$(ssh -n "$cell" cellcli -e list griddisk attributes name,asmmodestatus,asmdeactivationoutcome | awk '{print $2, $3}' | sort -u)
    echo "$cell blocked=$left $states"
done < "$1"
