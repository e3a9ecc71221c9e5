"""What is read out of shell text, scripts and CellCLI files before anything is sent."""

from __future__ import annotations

import pytest

from exacell.dcli.scan import scan_command, scan_script

HARMLESS = [
    "cellcli -e list cell detail",
    'cellcli -e "list griddisk where status=\'active\'" | grep -c DATA',
    "cellcli -e list metriccurrent where name like \\'FC.*\\'",
    "cellcli -m -e drop flashcache",
    "( hostname; cellcli -e list celldisk | egrep name ) 2>&1",
    "for i in 1 2 3; do cellcli -e list cell attributes name; done; uptime",
    "if [ -d /x ]; then cat /etc/hosts | sort -u; else date; fi",
    "[[ -d a && -e b ]] && hostname",
    "while read x; do echo $x; done < /tmp/list",
    "case $1 in a|b) hostname;; *) uptime ;; esac",
    "a=(1 2 3); (( i++ )); echo ${a[0]} $((1 + 2))",
    "x=$(cellcli -e list cell attributes name); echo \"$x\" `hostname`",
    "awk '{print $1}' /proc/loadavg | sed 's/a/b/'",
    "sudo -u celladmin cellcli -e list cell",
    "service celld status; systemctl is-active sshd",
    "vmstat 1 3; df -h > /dev/null 2>&1",
    "cellcli <<'EOF'\nlist cell\n-- drop flashcache\nexit\nEOF",
    "show() { cellcli -e list $1; }\nshow cell",
    "# drop flashcache\nhostname",
    "cellcli -e 'list cell; list flashcache detail'",
    "timeout 5 hostname; rpm -qa; find / -name core",
    "cellcli",
    "command -v cellcli",
    # What is expanded is one of the values that the text itself gives, or what the system sets.
    "for d in a b; do cellcli -e list griddisk $d detail; done",
    "for gd in $(cellcli -e list griddisk attributes name); do cellcli -e list griddisk $gd attributes name,size; done",
    "for gd in `cellcli -e list griddisk attributes name | grep D | awk '{print $1}'`; do cellcli -e \"list griddisk $gd\"; done",
    "cellcli -e list griddisk attributes name | while read gd rest; do cellcli -e list griddisk $gd detail; done",
    "for i in {1..3} $(seq 4 11); do cellcli -e list celldisk CD_0${i}_x; done",
    "H=$(hostname -s); cellcli -e \"list flashcache detail\" | sed \"s/^/$H: /\"",
    "cellcli -e \"list metrichistory where collectionTime > '$(date -d '1 hour ago' +%Y-%m-%dT%H:%M:%S)'\"",
    "show() { cellcli -e list $1; }\nshow cell; show flashcache",
    "x='where status = active'; cellcli -e list griddisk $x",
    "D=/var/log; find $D -type f; find $HOME -name x",
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
    "cellcli <<EOF\nlist cell -\n attributes name\nlist griddisk where name like '$HOSTNAME.*'\nEOF",
    "printf '%s\\n' 'list cell' 'list flashcache' | cellcli; echo 'list cell' | cellcli -n",
    "printf 'list cell\\nlist flashcache\\n' | cellcli",
    "cellcli <<EOF > /dev/null 2>&1\nlist cell\nEOF",
    "echo | cellcli; echo -n list cell | cellcli; printf '%s %s\\n' list cell list flashcache | cellcli",
    "printf 'list cell %% %s\\n' a | cellcli; printf 'list cell' x | cellcli",
    # Filters and programs that only print.
    "awk -F: '/a|b/ && $3 > 5 {print $1; n++} END {print n}' /etc/passwd",
    "awk 'BEGIN{FS=\"|\"} {print $2}'; awk '{ if ($1 > 3) print $1 }' f; awk 'NR==1 || /x/' f",
    "sed -n '2,4p' f; sed -e 's/a/b/g' -e '/^$/d' f; sed 's|/|_|g;s/x//2' f; sed 1q f; sed '/^#/d; s/ //g' f",
    "sed -n -e '/x/{p;q}' f; sed -n '/start/,/end/p' f; sed -r 's/(a)(b)/\\2\\1/' f; sed 'y/a/b/' f",
    "su - celladmin -c 'cellcli -e list cell'; bash -o pipefail -c 'ls | wc'; bash -s <<EOF\nuptime\nEOF",
    "timeout -s KILL 10 cellcli -e list cell; nice -n 10 uptime; env LANG=C date; sudo -n uptime",
    "/usr/local/bin/cellcli -e list cell; /opt/oracle/cell/cellsrv/bin/cellcli -e list cell",
    "export PATH=$PATH:/usr/local/bin; PATH=/usr/bin:/bin uptime",
    "ip a; ip -s link show; hostname -s; date +%s; date -Iseconds; sort -k2n f; file /bin/ls; rpm -q kernel",
    "echo [$(date)] start; grep -c '$(x)' f; cat <<'EOF'\n$(reboot)\nEOF",
    "sed --expression=p f; sed -ne p f; sed -E s/a/b/ -; sed 'p # note' f; sed '#n' f; sed 'q5' f; sed 's/a\\/b/c/' f",
    "awk -v x=1 '{print}' f; awk -F ' ' '{print}' f; awk '{print} # a | b' f; awk '( /a|b/ ) || $1 == 5' f",
    "trap; alias; command -v x; env; printf 'a[$(x)]'; sudo -- uptime; echo PATH=/tmp; su root -c uptime",
    "ls >&2; ls 2>&-; ls > /dev/null; cellcli -e spool off; cellcli -e spool",
    "MegaCli64 -AdpBbuCmd -GetBbuStatus -a0; dbmcli -e list dbserver detail; ipmitool sel list",
    "trap - EXIT; trap '' INT; case PATH in x) ls;; esac; case '$(x)' in a) ls;; esac; bash -c 'ls $1' x y",
    "cellcli <<'EOF'\nlist cell where name = 'a$b'\nEOF", "ip -4 -s -f a; ip r get 10.0.0.1",
    "awk '{print $1/1024 \" MB\"}' f; awk '{print a[1]/2 \" MB\", (a+b)/2 \"x\"}' f; awk '{x = y / 2; print x}' f",
    "awk '/[[:alpha:]]\"[^]]/ {print}' f; awk '/[\\/]\"/' f; awk '{print}\n# \"\n/x/ {print \"x\"}' f",
    "awk '{if ($1 > 2) print\n}\n/x/' f; sed -n '/a/,/b/p' f; sed 's/a/b/2;p' f; sed '# x\np' f",
    "show() { cellcli -e list $1; }\nmain() { show cell; }\nmain; outer() { later; }; later() { ls; }; outer",
    "printf 'list cell %s' | cellcli; echo list cell",
    "awk '{if (a > (b) / 2) print a}' f; awk '{print \"[\"}' f",
    "i=3; cellcli -e list celldisk CD_0$((i+1))_x; cellcli -e \"list $(echo cell)\"; cellcli -e list cell $1",
    "echo $(cellcli -e \"list cell $(hostname)\")",
    "hostname \\\n -s; host\\\nname",
    "cat <<EOF\n	EOF\nreboot\nEOF",
    "echo \"a\\\"; reboot; \\\"b\"; echo $ a$",
    "((i = (2 + 3) * 4)); ( (ls) ); ( (ls))",
    "echo $(( (1 + 2) * 3 )); echo $\"a b\"; cat <<EOF\n\"a\" \\\"b\\\" \\\\\nEOF",
    "echo $(echo \\) a) b",
    "echo $(echo ')' a) b",
    "echo $(echo \")\" a) b",
    "echo $(echo \"a\\\")\" a) b",
    "echo $(echo 'a\\' a) b",
    "echo `echo \\`hostname\\``",
    "IFS=; D=/var/log; find $D -type f",
    "IFS=,; find / a",
    "export D=/var/log; find $D -type f",
    "D=/var/log; export D; find $D",
    "x=a; ls -v x; printf '%s' x; find $x; find /tmp/$$; echo $(find $x) `find $x`; find `hostname` $x",
    "set -e; show() { cellcli -e list $1; }; show cell",
    "a=1; b=$a; c=$b; d=$c; e=$d; find $e",
    "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do find $a$b; find $a $b; done; done",
    "hostname | sort -u | head -n 1 | cut -d : -f 1,2 | while read x; do cellcli -e list cell $x; done",
    "D=DATA; echo \"list griddisk $D\" | cellcli",
    "X=$(nproc); echo $((X + 1))",
    "f() { g; }; g() { ls; }; { f; }",
    "sort - f; sort -- f; rpm -q -- kernel",
]  # fmt: skip

CHANGES = {
    "cellcli -e drop flashcache": ["drop flashcache"],
    "cellcli -e 'list cell; drop flashlog; create flashlog all'": ["drop flashlog", "create flashlog all"],
    "cellcli <<EOF\ndrop flashcache\ncreate flashcache all\nEOF\n": ["drop flashcache", "create flashcache all"],
    "cellcli <<EOF\ndrop flashcache\ncreate flashcache all\n": ["drop flashcache", "create flashcache all"],
    "cellcli <<-EOF\n\tdrop flashcache;\n\tEOF\nhostname": ["drop flashcache"],
    "cat <<EOF | cellcli -n -x\nalter flashcache all -\n  flush\nEOF": ["alter flashcache all    flush"],
    "echo 'drop flashcache' | cellcli": ["drop flashcache"],
    "cellcli <<< 'drop flashcache'": ["drop flashcache"],
    "bash -c 'cellcli -e drop flashcache'": ["drop flashcache"],
    "nohup sudo cellcli -e drop celldisk all &": ["drop celldisk all"],
    "/usr/local/bin/cellcli -e alter iormplan objective=basic": ["alter iormplan objective=basic"],
    "f() { cellcli -e drop celldisk all; }; f": ["drop celldisk all"],
    "x=$(cellcli -e drop flashcache)": ["drop flashcache"],
    "echo `cellcli -e drop flashcache`": ["drop flashcache"],
    "case $1 in a) hostname;; *) cellcli -e 'drop flashlog';; esac": ["drop flashlog"],
    "cellcli -e alter iormplan dbplan=\\(\\(name=a,share=2\\)\\)": ["alter iormplan dbplan=((name=a,share=2))"],
    "true && ( cellcli -e drop flashcache ) || false": ["drop flashcache"],
    "while true; do cellcli -e drop flashcache; done": ["drop flashcache"],
    "cellcli -e 'list cell\ndrop flashcache'": ["drop flashcache"],
    "cellcli -e '-- a comment\ndrop flashcache'": ["drop flashcache"],
    "printf '%s\\n' 'list cell' 'drop flashcache' | cellcli": ["drop flashcache"],
    "cellcli <<< 'list cell' 3<<< 'drop flashcache'": ["drop flashcache"],
    "printf 'list cell\\n%s\\n' 'drop flashcache' | cellcli": ["drop flashcache"],
    "cat <<EOF 3<<B | cellcli\nlist cell\nEOF\ndrop flashcache\nB": ["drop flashcache"],
    "cellcli <<A 3<<B\ndrop flashcache\nA\nlist cell\nB": ["drop flashcache"],
    "su - celladmin -c 'cellcli -e drop flashcache'": ["drop flashcache"],
    "cellcli -e $'list cell\\ndrop flashcache'": ["drop flashcache"],
    "cellcli <<'EOF'\nalter cell comment='$x'\nEOF": ["alter cell comment='$x'"],
    "cellcli -e 'alter cell comment=\"a*\"'": ['alter cell comment="a*"'],
    "printf 'alter cell comment=\"5%%\"\n' | cellcli": ['alter cell comment="5%"'],
    "printf 'drop flashcache %s' | cellcli": ["drop flashcache"],
    'printf "list cell\\ndrop flashcache\\n" | cellcli': ["drop flashcache"],
}

UNREAD = [
    "rm -rf /tmp/x",
    "cellcli -e @changes.scl",
    "cellcli < changes",
    "generate | cellcli",
    "{ echo drop flashcache; } | cellcli",
    "f() { cellcli; }; echo drop flashcach | f",
    "echo drop flashcach | { hostname; cellcli; }",
    "$(cellcli)",
    "$CMD drop",
    "./script.sh",
    ". /etc/profile",
    "eval hostname",
    "ls > /etc/passwd",
    "echo 'unclosed",
    "diff <(ls) <(ls /)",
    "for d in a b; do cellcli -e alter griddisk $d inactive; done",
    "cellcli <<EOF\nalter griddisk $d inactive\nEOF",
    "cellcli -e drop flashcach",
    "cellcli -e spool /tmp/x",
    "sed -i s/a/b/ /etc/hosts",
    "awk 'BEGIN { system(\"reboot\") }'",
    "find / -delete",
    "date -s 12:00",
    "hostname newname",
    "sh script",
    "xargs rm < list",
    "service celld restart",
    "sqlplus / as sysdba <<EOF\ndrop table x;\nEOF",
    # A statement that begins as a read, and another one that the shell makes behind it.
    "printf 'rem %bdrop flashcache all' '\\012' | cellcli",
    "printf 'list cell\\x3bdrop flashcache all\\n' | cellcli",
    "echo -e 'list cell\\x3bdrop flashcache all' | cellcli",
    "x='; drop flashcache all'; cellcli -e \"list cell $x\"",
    "x='; drop flashcache all'; export x; bash -c 'cellcli -e \"list cell $x\"'",
    "x='\ndrop flashcache all'; cellcli <<EOF\nlist cell $x\nEOF",
    "y='; drop flashcache all'; x=$y; cellcli -e \"list cell $x\"",
    "x=a; x+='; drop flashcache all'; cellcli -e \"list cell $x\"",
    "declare x='; drop flashcache all'; cellcli -e \"list cell $x\"",
    "HOSTNAME='; drop flashcache all'; cellcli -e \"list cell $HOSTNAME\"",
    "a=('; drop flashcache all'); cellcli -e \"list cell $a\"",
    "for x in '; drop flashcache all'; do cellcli -e \"list cell $x\"; done",
    "set -- '; drop flashcache all'; cellcli -e \"list cell $1\"",
    "f() { cellcli -e list $1; }; f 'cell; drop flashcache all'",
    "read x; cellcli -e \"list cell $x\"",
    "echo '; drop flashcache all' | while read x; do cellcli -e \"list cell $x\"; done",
    "printf -v x '; drop flashcache all'; cellcli -e \"list cell $x\"",
    "x=$(echo ';drop flashcache all'); cellcli -e \"list cell $x\"",
    "cellcli -e \"list cell $(printf '\\x3b drop flashcache all')\"",
    "cellcli -e \"list cell ${x:-; drop flashcache all}\"",
    "cellcli -e \"list cell ${x/a/;}\"",
    "cellcli -e \"list cell $UNKNOWN\"",
    "cellcli -e \"list cell where name = \\\"a'; drop flashcache all\\\"\"",
    "cellcli -e \"list cell ( ; drop flashcache all\"",
    "cellcli <<EOF\nlist cell where name = 'a\ndrop flashcache all\n'\nEOF",
    "cellcli <<EOF\nlist cell (\ndrop flashcache all\n)\nEOF",
    "cellcli 3<<EOF <&3\ndrop flashcache all\nEOF",
    "cellcli <<A {x}<<B\ndrop flashcache all\nA\nlist cell\nB",
    "m=-e; cellcli $m drop flashcache all",
    "echo list cell | { cellcli; } < /tmp/x",
    "> /tmp/x | cellcli",
    "generate list cell | cellcli",
    "cat /tmp/x | cellcli",
    "tee /tmp/y <<EOF | cellcli\nlist cell\nEOF",
    "printf | cellcli", "printf -v x 'list cell' | cellcli", "printf $x | cellcli", "printf '%d' 1 | cellcli",
    "echo 'list cell\\x3b' | cellcli",
    "cellcli {-e,drop,flashcache,all}",
    # Well-known names that mean something else.
    "/tmp/ls", "./ls -l", "~/ls", "/usr/bin/../../tmp/ls", "/tmp/cellcli -e list cell",
    "PATH=/tmp:$PATH ls", "export PATH=.; ls", "env PATH=/tmp ls", "sudo LD_PRELOAD=/tmp/x.so ls", "BASH_ENV=/tmp/x bash -c ls",
    "hostname() { reboot; }; hostname",
    # Shells and commands that run another one, by options that take a value.
    "bash /tmp/evil -c 'cellcli -e list cell'", "sh -x /tmp/evil -c ls", "bash --rcfile /tmp/evil -i -c ls",
    "bash -O extglob /tmp/evil -c ls", "su celladmin -c ls -s /tmp/evil", "su -c ls -c reboot", "su - root",
    "sudo -p ls reboot", "sudo -i", "sudo -s <<EOF\nreboot\nEOF",
    "env -S reboot", "env --split-string=reboot", "env -C ls reboot",
    "exec -a ls reboot", "nice --adjustment ls reboot", "timeout 5 reboot", "timeout -k 3 5 reboot", "bash -c \"$X\"",
    # Filters that run, write or evaluate something.
    "sed '1ecellcli -e list cell' f", "sed -n -e p -e '1e reboot' f", "sed --expression='1e reboot' f", "sed 's|a|reboot|e' f",
    "sed 's,a,b,w /etc/x' f", "sed '$!{N;e}' f", "sed '1r /dev/stdin' f", "sed -E -i.bak p f", "sed 'y/a/b/e' f", "sed -f x f",
    "e=e; sed \"s/a/ls/$e\" f", "c=w; sed \"1$c /etc/x\" f", "sed '/a' f", "sed 's/a/b' f",
    "awk 'BEGIN{f=\"system\"; @f(\"reboot\")}'",
    "awk 'BEGIN{C=\"reboot\"; print 1 |C}'", "awk 'BEGIN{print \"a;b\" > \"/etc/x\"}'",
    "awk -i inplace '{print}' f", "a='BEGIN{system(\"reboot\")}'; awk \"$a\"",
    "awk '/\"/{print \"x\" > \"/f\"}' x", "awk -v p=sh '{print $1 / 2 | p}'",
    "x=-delete; find /tmp/q $x", "find / -{exec,x} reboot \\;", "find /x $UNKNOWN", "IFS=,; a=x,-delete; find / $a",
    "sort --compress-program=/tmp/x big", "less '+!reboot' f", "more '+!reboot' f", "file -C -m f", "rpm -qa --pipe reboot",
    "rpm -q --eval '%(reboot)'", "ip netns exec x reboot", "hostname -F /tmp/x",
    "date -us 12:00", "MegaCli64 -AdpAllInfo -aALL -CfgClr",
    "dbmcli -e 'list x; drop y'", "ipmitool exec list",
    "sed 'pp' f", "sed '1' f", "sed '1,' f", "sed '$' f", "sed '/a/I' f", "sed '1!' f", "sed 's' f", "sed 'p5' f",
    "sed 'y/a/b/g' f",
    "sed '#e\ne reboot' f", "sed 's/a/b/x' f", "sed -e",
    "awk", "awk -F", "awk '{getline; print}' f", "awk '{ x = a / 2 ; print y | z / 3 }' f", "awk --lint '{print}' f",
    "/opt/../tmp/ls", "systemctl", "systemctl stop celld", "ip", "ip tuntap add x", "ip -b /tmp/x", "ip link set eth0 down",
    "dbmcli", "dbmcli -e alter dbserver x", "dbmcli -x list x", "trap reboot EXIT", "alias ls=reboot",
    "sudo $X ls", "sudo {-u,root} ls", "sudo -u", "nice -x ls", "command reboot", "l* x", "{ls,-l}",
    "cat <<EOF\n$(reboot)\nEOF", "ls >& /etc/x", "ls > $X", "ls <> /etc/x",
    "bash root -c ls", "bash --command x -c ls", "bash -c", "bash -c {a,b}", "su <<EOF\nls\nEOF",
    "bash /tmp/x <<EOF\nuptime\nEOF",
    "bash <<EOF\nuptime $X\nEOF",
    # What a builtin evaluates once more.
    "x='$(reboot)'",
    "test -v 'a[$(reboot)]'", "[[ 'a[$(reboot)]' -eq 0 ]]",
    "(( a['$(reboot)'] ))", "declare -i 'x=a[$(reboot)]'", "let 'x=a[$(reboot)]'",
    "printf -v 'a[$(reboot)]' x", "x='$(reboot)'; echo ${x@P}", "[ -v \"a[\\$(reboot)]\" ]",
    "echo $'\\'' ; cellcli -e drop flashcache all ; echo $'\\x27 \\''",
    # What is expanded before the command that is run: it may become several words, and one of them the command.
    "timeout $X ls", "timeout {1,reboot} ls", "timeout -- $X ls", "timeout * ls", "nice -n $X ls", "env A=$X ls",
    "timeout --signal uptime reboot", "sudo -$X ls", "su -s evil -c ls", "bash -c ls\\ {a,b}", "bash -c \"ls $X\"",
    "bash -c <<EOF\nuptime\nEOF", "echo drop flashcach | bash -c cellcli", "cellcli $X -e list cell",
    "cellcli -e list {cell,griddisk}", "cellcli -e drop griddisk {a,b}", "cellcli -e drop griddisk D*",
    "cellcli -e drop griddisk \"D\"*", "find / {'a b',-delete}", "find / {a\\ b,-delete}", "Y=a; find / {-exec,${Y}}",
    # A function's name is the function's only where it is called as one, behind its definition.
    "reboot() { :; }; /sbin/reboot", "reboot() { :; }; command reboot", "reboot() { :; }; sudo reboot", "reboot; reboot() { :; }",
    "$X() { :; }; $X", "a*() { :; }; a*", "{a,b}() { :; }; {a,b}",
    "echo() { cat /tmp/x; }; echo list cell | cellcli", "hostname() { cat /tmp/x; }; cellcli -e \"list cell $(hostname)\"",
    "echo() { cat /tmp/x; }; cellcli -e \"list cell $(echo)\"",
    "hostname() { cat f; }; hostname | while read x; do cellcli -e list $x; done",
    "echo() { cat /tmp/x; }; cellcli -e \"list cell $(echo list cell | cellcli)\"",
    "ip -b a", "ip --batch a", "ip -n x a", "ip x get", "ls > 5",
    "sed -ne", "sed -e p -i f", "sed 's\\a\\b\\' f", "awk - f", "awk '{print \"a | b' f",
    # What awk takes for a pattern, a string or the end of a print.
    "awk '{ x = /\"/; print > \"/etc/f\" #\"\n}' f", "awk '{x=1} /\"/ {print > \"/etc/f\"} #\"' f",
    "awk '/[/]\"/ {print > \"f\"} #\"' f",
    "awk '/[]/]\"/ {print > \"f\"} #\"' f", "awk '/[[:alpha:]/]\"/ {print > \"f\"} #\"' f",
    "awk '{if (x) /\"/; print > \"f\" #\"\n}' f",
    "awk '{print \"x\" \\\n > \"/etc/f\"}' f", "awk '{print \"x\",\n\"y\" > \"/etc/f\"}' f", "awk '{print /\"/ > \"f\" #\"\n}' f",
    "awk '{x = 5 \\\n / 2; print > \"f\" / 3}' f",
    "cat /tmp/x <<EOF | cellcli\nlist cell\nEOF", "tac 'list cell' | cellcli", "printf -- 'drop flashcache all' | cellcli",
    "x='\\012drop flashcache all'; printf \"list cell $x\" | cellcli",
    "x='\\012drop flashcache all'; echo -e \"list cell $x\" | cellcli",
    "printf 'drop griddisk %s' $X | cellcli", "printf 'drop griddisk %s' {a,b} | cellcli",
    "printf 'drop griddisk %s' D* | cellcli",
    # Values that the text does not tell, or that are more than one word.
    "reboot() { :; }; f() { command reboot; }; f",
    "f() { g; }; { f; }; g() { ls; }; f",
    "x=%b; printf \"list cell $x\" '\\012drop flashcache all' | cellcli",
    "cellcli -e \"list cell $()\"",
    "cellcli -e \"list cell $(cat /tmp/x)\"",
    "cellcli -e \"list cell $(cat /tmp/x; echo a)\"",
    "cellcli -e \"list cell $(x=1)\"",
    "cellcli -e \"list cell $(echo $UNKNOWN)\"",
    "find / $(echo '\\055delete')",
    "for d in a -delete; do find / $(echo $d); done",
    "cellcli -e \"list cell $(cat f; hostname)\"",
    "cellcli -e \"list cell $(hostname | sort < /tmp/x)\"",
    "cellcli -e \"list cell $(date $UNKNOWN)\"",
    "cellcli -e \"list cell $(date '+;drop flashcache all')\"",
    "cellcli -e \"list cell $(cellcli -e list cell attributes comment)\"",
    "cellcli -e \"list cell $(cellcli -e describe cell)\"",
    "cellcli -e \"list cell $(hostname | sort f)\"",
    "cellcli -e \"list cell $(hostname | grep -r x)\"",
    "cellcli -e \"list cell ${x/a/;} $(hostname)\"",
    "bash -c 'cellcli -e \"list cell $1\"' x '; drop flashcache all'",
    "IFS=,; a=x,-delete; echo $(find / $a)",
    "read IFS; a=x,-delete; find / $a",
    "case Y in a) ls;; esac; cellcli -e \"list cell $Y\"",
    "for x in *; do cellcli -e \"list cell $x\"; done",
    "x=a; declare -n r=x; r='; drop flashcache all'; cellcli -e \"list cell $x\"",
    "x=a; n=x; declare \"$n=; drop flashcache all\"; cellcli -e \"list cell $x\"",
    "x=a; declare $N; cellcli -e \"list cell $x\"",
    "hostname | grep Y; cellcli -e \"list cell $Y\"",
    "hostname | while read x; do cellcli -e \"list cell $x\"; done < f",
    "x=a; read x; cellcli -e \"list cell $x\"",
    "x=a; y=x; read $y; cellcli -e \"list cell $x\"",
    "x=a; read {x,y}; cellcli -e \"list cell $x\"",
    "x=a; printf -v x '; drop flashcache all'; cellcli -e \"list cell $x\"",
    "x=a; printf -vx '; drop flashcache all'; cellcli -e \"list cell $x\"",
    "printf '-va[$(reboot)]' x",
    "Y='; drop flashcache all'; cellcli -e \"list cell \\$(( $Y ))\"",
    "Y='\ndrop flashcache all'; cellcli <<EOF\nlist cell \\$(( $Y ))\nEOF",
    "Y='\ndrop flashcache all'; cellcli <<EOF\nlist cell \\$(a) $Y $(hostname -s)\nEOF",
    "Y='\ndrop flashcache all'; cellcli <<EOF\nlist cell \\` $Y \\` `hostname`\nEOF",
    "x=a; x=b$x; find $x",
    "y=$UNKNOWN; find $y",
    "x=a; read x; bash -c 'cellcli -e \"list cell $x\"'",
    "x='a -delete'; find / $x",
    "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8 9; do find $a$b; done; done",
    "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8 9; do find $a $b; done; done",
    "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8 9; do cellcli -e \"list cell $a$b\"; done; done",
    "echo() { cat /tmp/x; }; echo $(cellcli -e \"list cell $(echo a)\")",
    "( (reboot))",
    "( (reboot) )",
    "((reboot); (ls))",
    "echo $((reboot); (ls))",
    "find / $\"-delete\"",
    "echo $'x",
    "ls \"x",
    "echo $((1",
    "echo $(( $(reboot) ))",
    "(( $(reboot) ))",
    "echo $(( `reboot` ))",
    "find / ${X}",
    "echo ${x:-$(reboot)}",
    "echo ${x:-`reboot`}",
    "echo ${x@P}",
    "echo `ls",
    "echo `echo \\`reboot\\``",
    "echo $(ls",
    "echo $(echo 'a",
    "((i = 1)",
    "cat < <(ls)",
    "ls > >(cat)",
    "echo $((reboot) )",
    "find / {a,-delete}",
    "for x in {a,\\;drop}; do cellcli -e \"list cell $x\"; done",
    "for x in {a,-delete}; do find / $x; done",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_reads_need_nothing(text: str) -> None:
    """Commands that only show something should be told as such, whatever shell is around them."""
    found = scan_command(text)
    assert found.harmless, (found.changes, found.unread)


@pytest.mark.parametrize("text", CHANGES)
def test_cellcli_changes_are_found(text: str) -> None:
    """Each changing statement should come out, in order, and nothing else be unread."""
    found = scan_command(text)
    assert ([c.text for c in found.changes], found.unread) == (CHANGES[text], [])
    assert not found.harmless
    assert {c.repeats for c in found.changes} == {text.startswith(("while", "f()"))}


@pytest.mark.parametrize("text", UNREAD)
def test_what_cannot_be_read_is_named(text: str) -> None:
    """A command that might change something should never pass for a read."""
    found = scan_command(text)
    assert found.unread and not found.harmless


@pytest.mark.parametrize(
    "text",
    [
        'CMD="drop flashcache"; cellcli -e $CMD',
        "cellcli -e 'drop flashcache\nrun_it",
        "python -c \"os.system('cellcli -e drop flashcache')\"",
        "cellcli -e drop flashcache $ALL",
    ],
)
def test_in_doubt_what_looks_like_a_change_is_one(text: str) -> None:
    """A change inside text that is not understood should still be judged."""
    found = scan_command(text)
    assert found.unread and [c.text for c in found.changes] == ["drop flashcache"]


def test_a_comment_is_no_change_even_in_doubt() -> None:
    """A line that is a comment to a shell or to CellCLI should not be judged, whatever else is not understood."""
    found = scan_command("# drop flashcache\n -- drop flashlog\nRem drop celldisk all\nreboot")
    assert found.unread and not found.changes


def test_a_function_called_by_name_is_no_unknown_command() -> None:
    """What a function does should count where it is written."""
    found = scan_command("function reset { cellcli -e drop flashcache; }\nreset")
    assert [c.text for c in found.changes] == ["drop flashcache"] and not found.unread


def test_scripts_are_read_by_what_they_are() -> None:
    """A .scl file should be CellCLI's, a shell script a shell's, and anything else be unread."""
    scl = scan_script(b"list cell\ndrop flashcache\nREM done\ncreate flashcache -\n all\n", "f.scl")
    assert [" ".join(c.text.split()) for c in scl.changes] == ["drop flashcache", "create flashcache all"]
    assert not scl.unread
    assert scan_script(b"#!/bin/ksh\nhostname\n", "f.sh").harmless
    assert scan_script(b"hostname\r\nuptime\r\n", "f").harmless
    assert scan_script(b"#!/usr/bin/perl\nprint 1;\n", "f.pl").unread == ["f.pl is a script for /usr/bin/perl"]
    assert scan_script(b"\x7fELF\0\0", "prog").unread == ["prog is a program"]
    assert scan_script(b"@other.scl\n", "f.scl").unread
    assert scan_script(b'cellcli -e "list cell $1"\n', "f.sh").unread


def test_endless_nesting_is_given_up() -> None:
    """Commands inside commands should end somewhere."""
    text = "hostname"
    for _ in range(9):
        text = f"echo $({text})"
    assert scan_command(text).unread


def test_nesting_is_followed_to_its_depth() -> None:
    """Six levels of commands should still be read, and seven not."""
    text = "hostname"
    for _ in range(6):
        text = f"echo $({text})"
    assert scan_command(text).harmless
    assert scan_command(f"echo $({text})").unread == ["commands inside commands, too deep to follow"]


def test_a_statement_is_named_as_it_is_written() -> None:
    """What is shown of a change in a loop should be the text with its variable, not one of the values."""
    found = scan_command("for d in a b; do cellcli -e alter griddisk $d inactive; done")
    assert found.unread == ["cellcli: alter griddisk $d inactive"]


def test_only_the_line_that_is_not_known_is_named() -> None:
    """A value that nobody knows should make no secret of the statements beside it."""
    found = scan_command("cellcli <<EOF\nlist cell\nlist griddisk $UNKNOWN\ndrop flashcache\nEOF")
    assert found.unread == ["cellcli: list griddisk $UNKNOWN"]
    assert [c.text for c in found.changes] == ["drop flashcache"]


def test_what_is_named_is_cut_where_it_is_long() -> None:
    """A phrase should fit into a sentence, and a command without a name be seen there."""
    assert scan_command("''").unread == ["''"]
    assert scan_command("reboot " + "x" * 53).unread == ["reboot " + "x" * 53]
    assert scan_command("reboot " + "x" * 54).unread == ["reboot " + "x" * 50 + "..."]
