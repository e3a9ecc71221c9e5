"""Commands that show something with some arguments and change something with others, and what a shell evaluates twice."""

from __future__ import annotations

import pytest

from exacell.dcli.scan import scan_command

HARMLESS = [
    # What sets the clock stands beside what shows the time.
    "date; date +%s; date -u +%F; date -d yesterday +%F; date --date='1 hour ago'; date -r /etc/hosts; date -d +1day '+%F %T'",
    "date --utc; date -Iseconds; date -R; date --rfc-3339=ns; date '+%F\n%T'; date --reference /etc/hosts",
    # Options before the word that says what is done.
    "systemctl --no-pager status celld; systemctl -l show x; systemctl --type=service list-units; crsctl stat res -t",
    "nvme list; nvme smart-log /dev/nvme0; srvctl status asm",
    "ipmitool sel list; ipmitool -I open sdr elist; ipmitool chassis status; ipmitool chassis power status",
    "ipmitool sel time get",
    "ipmitool sensor get Fan 1; ipmitool lan print 1; ipmitool fru; ipmitool mc info; ipmitool sdr type Fan",
    "ip a s; ip addr s; ip link show; ip l ls; ip r list",
    "jobs; jobs -l; pidstat 1 2; ibnetdiscover; lastlog -u root; lsof -n +D; sort -u --key=2 f; ss -tan",
    "dmesg --level=err; dmesg -T",
    "rpm -qa; rpm -qi kernel; journalctl --no-pager -u celld --since today; dmidecode -t 1; file --brief f",
    "uniq f; ethtool -i eth0",
    # Arithmetic over what can only be numbers or names.
    "n=$(cellcli -e list griddisk | wc -l); echo $((n + 1)); [[ $n -gt 5 ]] && hostname",
    "n=$(grep -c x < /tmp/f); ((n > 1)) && hostname",
    "used=$(df / | awk 'NR==2 {print $5}' | tr -d %); [[ $used -gt 90 ]] || uptime",
    "for ((i = 0; i < 3; i++)); do echo $((i * 2)) ${a[i]} ${a[$i]} ${x:i:2}; done",
    "i=1; let i=i+1; let \"i = $i\"; printf -v x %s \"$UNKNOWN\"",
    "i=0; a[i]=1; a[$i]=2; (( a[i] += COLUMNS )); unset i; unset -v 'a[0]'; x=5; y=x; (( y )); wait -p pid",
    "x='cost: $5'; echo $x; [[ $x == 'a b' ]] && ls; read n; [[ -n $n ]]; [ -n \"$(cat f)\" ]; test $n -eq 5",
    "export n; readonly n",
    "[[ $(cellcli -e list celldisk | wc -l) -eq 12 ]] && hostname; f() { echo $(( $1 + 1 )); }; f 5",
    "x=$(cat f); grep -v \"[$x]\" g; ls -i $UNKNOWN; a=b; b=c; c=d; d=e; e=5; ((a)); q=5; printf -v y %s q; (( q ))",
    "read -p 'go on [y/n] ' x; declare z=[w]; test -n \"a[$UNKNOWN]\"; command -v ls; printf '%s' '-v'",
    # Values that are one word, or the words of a loop.
    "x='a.*'; cellcli -e \"list griddisk where name like $x\"",
    "d=$(date +%Y%m%d); find /var/log -name $d",
    "for d in $(cellcli -e list griddisk attributes name); do find /tmp -name $d; done",
    "x='a b'; for d in $x; do find /tmp -name $d; done; H=$(hostname -s); find / -name $H; U=$(id -un); find / -user $U",
    "N=$(nproc); find / -size $N; L=$(ls | wc -l); find / -size $L; C=$(cellcli -e list cell attributes name); find / -name $C",
    "K=$(/bin/uname -r); find / -name $K; awk '{print}' *.log; sort f*; echo ${HOME:-/root} ${PAGES:=5}",
    "read n m; getopts ab c; unset n",
]  # fmt: skip

UNREAD = [
    "d=$(date +%m%d%H%M); date $d", "date 11212200", "date 1121", "date -s 12:00", "date --se=2001-01-01", "date --set 12:00",
    "date -f x", "date -us 12:00", "date -u -s 12:00", "date -d x 11212200", "x=$(date +-delete); find /opt $x",
    "x=$(date '+/opt -delete'); find $x", "find $(date +%F%n-delete)", "x=$(date '+eth0 down'); ifconfig $x",
    "ifconfig $(date '+eth0 down')", "uniq $(date '+/tmp/a /etc/passwd')", "uniq $(cellcli -e list griddisk attributes name)",
    "uniq $(hostname -I)", "uniq $(date)", "uniq $(date +%c)", "uniq $(ls | wc)", "x='a -delete'; find $x",
    "for x in 'a -delete'; do find $x; done", "for x in a -delete; do find / $x; done",
    "x='/opt -delete'; for y in $x; do find / $y; done", "x='/opt -delete'; for y in \"$x\"; do find / $y; done",
    "find . -del*", "sort -o*", "echo x > /tmp/-delete", "echo x > /var/tmp/-delete",
    # Options that are cut short, put together, or take the next word.
    "sort --outp=/etc/hosts f", "sort --o=/etc/hosts f", "sort --comp=reboot f", "sort -uo /etc/hosts f", "ss -tK dst x",
    "ss --ki", "ss -D /etc/x", "journalctl --rot", "journalctl --cursor-f=/etc/x", "journalctl --flush", "dmesg --cle",
    "dmesg --read-clear", "dmesg -C", "dmesg -Tc", "dmidecode --dump-b /etc/x", "dmidecode --dump-bin /etc/x", "file --comp",
    "file -zC", "less --log-f=/etc/x f", "less -oX f", "rpm -qE '%(reboot)'", "rpm -qaD 'x %(reboot)'", "rpm -qa --ev x",
    "rpm -e kernel", "rpm", "rpm -qa --macros /tmp/x", "systemctl -p status stop celld", "systemctl -t show stop celld",
    "systemctl -H status stop x", "systemctl --root status", "crsctl stop crs", "jobs -x reboot", "jobs -lx reboot",
    "pidstat -e reboot", "pidstat -ue reboot", "pidstat --exec reboot", "ibnetdiscover --cache /etc/x",
    "ibnetdiscover --ca /etc/x", "lastlog -C -u x", "lastlog --clear --user root", "lastlog -S", "lsof -Db /etc/x",
    "ipmitool chassis power soft info", "ipmitool fru read 0 list", "ipmitool sunoem cli list", "ipmitool sel clear",
    "ipmitool power off", "ipmitool sel time set x", "ipmitool chassis power status; reboot", "ipmitool user set name 2 list",
    "ipmitool", "ip link s eth0 down", "ip l s eth0 down", "ip a flush dev eth0", "ip n s", "ethtool -s eth0", "ethtool -i a b",
    "uniq a b",
    # What steers other commands, set in other ways than by an assignment.
    "read PATH <<< /tmp; ls", "read -r x PATH <<< '/tmp a'; ls", "printf -v PATH /tmp; ls", "printf -vPATH /tmp; ls",
    "getopts a PATH", "unset PATH; ls", "wait -p PATH", ": ${PATH:=/tmp}; ls", "ls ${LD_PRELOAD=/tmp/x}",
    "cat <<E\n${BASH_ENV:=/tmp/x}\nE", "x=${PATH:=/tmp}", "ls > ${PATH:=/tmp/x}", "HOME=/tmp bash -lc ls", "export HOME=/tmp",
    "JAVA_TOOL_OPTIONS=-javaagent:/tmp/x cellcli -e list cell", "CLASSPATH=/tmp cellcli -e list cell",
    "RPM_CONFIGDIR=/tmp rpm -qa", "SYSTEMD_PAGER=/tmp/x systemctl status x", "GCONV_PATH=/tmp ls",
    # A command in a value that is evaluated as arithmetic: it runs.
    "let 'a[$'\"(reboot)]\"", "let a[\\$\\(reboot\\)]", "test -v 'a[$'\"(reboot)]\"", "let a[$'$(reboot)']",
    "let a['`reboot`']", "a='a[$'; b='(reboot)]'; let \"$a$b\"", "a='a[$'; b='(reboot)]'; (( $a$b ))", "a='x$'; [[ $a -gt 1 ]]",
    "a='x$'; b=a; (( b ))", "read x <<< 'a[$(reboot)]'; echo $((x))", "read x < /tmp/f; ((x))", "x=$(cat /tmp/f); echo $((x))",
    'x=$(cat /tmp/f); echo "$((x))"', "x=$(cat /tmp/f); cat <<E\n$((x))\nE", "x=$(cat /tmp/f); echo ${a[x]}",
    "x=$(cat /tmp/f); echo ${a[$x]}", "x=$(cat /tmp/f); echo ${a:x}", "x=$(cat /tmp/f); a[x]=1", "x=$(cat /tmp/f); a[$x]+=1",
    "x=$(cat /tmp/f); for ((i=x;;)); do :; done", "x=$(cat /tmp/f); y=x; ((y))", "x=$(cat /tmp/f); [[ 1 -eq $x ]]",
    "x=$(cat /tmp/f); [[ x -lt 1 ]]", "x=$(cat /tmp/f); [[ -v $x ]]", "[[ $(cat /tmp/f) -eq 1 ]]", "x=$(cat /tmp/f); let x",
    "x=$(cat /tmp/f); let $x+1", "x=$(cat /tmp/f); declare -i y=$x", "x=$(cat /tmp/f); test -v $x",
    "x=$(cat /tmp/f); [ -v $x ]", "x=$(cat /tmp/f); unset $x", "x=$(cat /tmp/f); printf -v $x 1", "x=$(cat /tmp/f); wait -p $x",
    "let $(cat /tmp/f)", "let {a,b}", "echo 'a[$(reboot)]' | while read x; do ((x)); done", "x=a[\\$\\(reboot\\)]; echo $((x))",
    "for x in a[\\$\\(reboot\\)]; do ((x)); done", "echo ${a[\\$\\(reboot\\)]}", "echo ${a['$(reboot)']}",
    "echo $((a[\\$\\(reboot\\)]))", "((a[\\$\\(reboot\\)]))", "x=$(wc /tmp/f); ((x))",
    "f() { echo $(( $1 )); }; f 'a[$'\"(reboot)]\"", 'set -- "$(cat f)"; echo $(($1))', 'set -- "$(cat f)"; echo $((${1}))',
    "a=b; b=c; c=d; d=e; e=f; f=g; g=$(cat f); ((a))", "n=$(grep -c x f /tmp/g); ((n))", "echo $( x=$(cat f); echo $((x)) )",
    "x=$(cat f); echo $(echo $((x)))", "x=$(cat f); bash -c 'echo $((x))'",
    "x=$(cat f); printf -v 'a[$x]' 1", "x=$(cat f); printf -v 'a[x]' 1", "x=$(cat f); test -v 'a[x]'",
    "x=$(cat f); [ -R 'a[x]' ]",
    "read 'a[$(reboot)]'", "declare 'a[$(reboot)]=1'", "declare 'a[`reboot`]'", "x=$(cat f); declare 'a[x]=1'",
    "unset 'a[$(reboot)]'",
    "x=$(cat f); unset 'a[x]'", "x=$(cat f); read 'a[x]'", "a=b; b=a; ((a))", "c=x; read a b c; cellcli -e \"list cell $c\"",
    "$X/ls", "/usr/bin/$X", "/opt/{a,b}/ls", "/opt/*/ls", "command() { ls; }; sudo command reboot",
    # Functions that are none when they are called.
    "reboot() { :; }; unset -f reboot; reboot", "false && reboot() { :; }; reboot", "(reboot() { :; }); reboot",
    "reboot() { :; } | cat; reboot", "f() { reboot; }; f; reboot() { :; }",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_a_command_that_shows_something_is_a_read(text: str) -> None:
    """What can be shown to change nothing should need no acceptance."""
    found = scan_command(text)
    assert found.harmless, found.unread


@pytest.mark.parametrize("text", UNREAD)
def test_the_same_command_with_other_arguments_is_named(text: str) -> None:
    """What changes something, or can't be told, should never pass for a read."""
    assert scan_command(text).unread
