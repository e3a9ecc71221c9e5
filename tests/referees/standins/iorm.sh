# The plan of all cells compared, without their names, as one has to before changing a directive.
plans=$(dcli -g "$1" -l celladmin cellcli -e list iormplan attributes objective,dbplan | cut -d: -f2- | sort -u)
echo "$(printf '%s\n' "$plans" | wc -l) plan(s): $plans"
cellcli -e list iormplan detail | awk '/dbPlan:/ {on = 1; sub(".*dbPlan:", "")} /objective:/ {on = 0} on {print "directive", $1}'
