"""What generated shell texts are made of: what is read, what shells understand besides, and what they nearly do."""

NAMES = (
    "x", "y", "IFS", "PATH", "HOME", "REPLY", "_", "OPTARG", "PWD", "OLDPWD", "PS4", "ENV", "BASH_ENV", "RANDOM", "a1",
)  # fmt: skip

SPECIAL = "|&;<>()$`\\\"' \t\n*?[]#~=%{}!^@+-,.:/0123456789axeE_\r\x00\x0b\x0c\x1b\x7f\x80\xa0\xe9\u2028"

COMMON = "ax1-_/.:,@%+= \t\n'\";|#*?"
"""Bytes that the reader knows: a text with one more or less of them may still be read."""

BUILTINS = (
    "echo x", "printf '%s' x", "printf -v x y", "read x", "read -a x", "eval ls", "exec ls", "command ls", "builtin echo",
    "export x=1", "readonly x", "local x", "typeset -i x=1", "declare -n y=x", "set -- a b", "set -f", "set +e", "shift",
    "unset x", "alias ls=rm", "alias ''", "alias -g x=y", "unalias -a", "trap 'touch x' EXIT", "trap - 0", "cd /", "cd -",
    "pushd /", "umask 0", "ulimit -c 0", "wait", "jobs", "bg", "fg", "kill 0", "hash -r", "hash -p /bin/rm ls", "type ls",
    "whence ls", "let x=1", "getopts a x", "times", ". /dev/stdin", "source x", "return 0", "exit 1", "break", "continue",
    "true", "false", ":", "test -n x", "[ -n x ]", "pwd", "history -c", "fc -l", "shopt -s extglob", "setopt extendedglob",
    "emulate sh", "autoload x", "zmodload zsh/files", "bindkey", "print x", "mapfile x", "enable -n echo", "sleep 0",
    "realpath /", "time ls", "time -p ls", "! ls", "noglob ls", "nocorrect ls", "- ls", "which ls", "disown",
    "complete -W x y", "logout", "suspend", "caller", "dirs", "nameref y=x", "integer x=1", "float x=1", "mknod p p",
    "rename a b", "sysopen x", "global x", "vared x", "limit", "rehash", "ztcp x", "strftime", "stat x", "chdir /",
    "local -x y", "inherit x",
)  # fmt: skip
"""Commands that a shell carries out itself."""

PROGRAMS = (
    "rm -rf x", "touch x", "sh -c ls", "bash -c ls", "env ls", "env x=y ls", "xargs ls", "tee x", "cp a b", "mv a b",
    "dd of=x", "sed -i s/a/b/ x", "sed -n p", "awk 'BEGIN{system(\"ls\")}'", "perl -e 1", "python3 -c 1", "find / -delete",
    "nohup ls", "nice ls", "timeout 1 ls", "sudo ls", "su - x", "ssh x ls", "reboot", "shutdown -h now", "halt", "dcli ls",
    "chmod 777 x", "ln -s a b", "mkdir x", "crontab -r", "sysctl -w a=b", "systemctl stop celld", "service celld stop",
    "mount", "umount /", "kill -9 1", "date -s 1", "hostname x", "cellcli -e alter cell shutdown services all", "cellcli",
    "sqlplus / as sysdba", "watch ls", "ionice ls", "setsid ls", "script x", "busybox rm x", "tclsh", "vi x", "ed x",
    "mail x", "at now", "split x", "sort -o x", "tar xf x", "wget x", "curl -o x y", "nc -l 1",
)  # fmt: skip
"""Commands of programs that change something, run something else or wait for a person."""

VARIABLES = (
    "$x", "${x}", "$1", "$@", "$*", "$#", "$?", "$$", "$!", "$-", "$0", "$_", "${x:-y}", "${x:=y}", "${x:?y}", "${x:+y}",
    "${#x}", "${!x}", "${!x*}", "${x:y}", "${x:0:1}", "${x#y}", "${x%%y}", "${x/y/z}", "${x@P}", "${x[$(ls)]}", "${x[y]}",
    "${(e)x}", "${x:-{}", "${x:-'}", '${x:-"}', "${x:-[}", "${x:-}}", "${ ls;}", "${|ls;}", "$x[1]", "$~x", "$=x", "$^x",
    "${^x}", "$+x", "$(ls)", "$(<x)", "`ls`", "`ls", "$((1+1))", "$(( x[$(ls)] ))", "$[1+1]", "$[", "$'a'", "$'\\''", '$"a"',
    "$", "$(", "${", "$((", "$(# )\n)", "$(case x in x) ls;; esac)", "$\\\n(ls)", "$\\\nx", "%1", "=ls", "=(ls)", "<(ls)",
    ">(ls)", "~", "~root", "~+", "~-", "~/x", "a=~", "x:~", "~\\\nx", "-~",
)  # fmt: skip
"""What is no letter of a word but is replaced by something."""

PATTERNS = (
    "*", "?", "[a-z]*", "[!a]*", "[^a]", "@(a|b)", "!(a)", "+(a)", "*(a)", "?(a)", "*(.)", "*(e:ls:)", "<1-3>", "^a", "a#",
    "a~b", "**", "**/x", "{a,b}", "{a}", "{}", "{1..3}", "{a,b", "a,b}", "{a..c}{d,e}", "{,}", "[", "]", "[]", "[a", "*]",
    "/*", "/*/x", "/*/null", "/var/.*", "/var/log/.*/x", "-*", "./*", "../*", "*/", "/var/log/*/../x", "/dev/*", "/proc/*",
    "/proc/*/mem", "*=*", ".?", ".?/x", "#*", "*#",
)  # fmt: skip
"""Patterns of file names, braces and what is nearly one."""

REDIRECTIONS = (
    ">x", ">>x", "<x", "<>x", ">|x", ">&x", ">&2", "<&0", "<&-", ">&-", "2>&1", "1>&2", "2>&1x", "2>& 1", "2 >&1", "12>&1",
    "2>&12", "2>&1-", "&>x", "&>/dev/null", "&>>x", ">/dev/nullx", ">/dev/null/x", "> /dev/null", ">\t/dev/null",
    ">\n/dev/null", "2> /dev/null", "3>/dev/null", "{fd}>/dev/null", "{fd}>x", "<<<x", "<<< 'x y'", ">'/dev/null'",
    '>"/dev/null"', ">/dev//null", ">/dev/./null", ">/dev/nul\\l", "</dev/null", "< /dev/null", "0</dev/null", "</dev/zero",
    "</dev/stdin", "</dev/tcp/x/1", ">!x", ">>|x", ">&!", "<#((1))", "<##x", ">;x", "1>/dev/null", "1>/dev/null 2>&1",
    "2>&1 >/dev/null", "2>&1 2>&1", "2>/dev/null2>&1", "a2>&1", "-2>/dev/null", "2\\\n>&1", "2>\\\n&1", ">/dev/null>x",
    ">/dev/null<x", "<&p", ">&p", "|&", "<(ls", "2>&1(", "2>&1)", "2>&1;", "2>&1#x", "2>&1 #x", ">/dev/null#x", "02>&1",
    "٢>&1",
)  # fmt: skip

JOINS = (
    ";", "\n", "|", "&&", "||", "&", "|&", ";;", ";&", ";;&", "&!", "&|", "\r\n", ";\n", "\n\n", "&\n", "; ;", "|||", "|\n|",
    "&&&", "\n;",
)  # fmt: skip

READ_JOINS = (
    ("join ;", "; "), ("join ;", ";"), ("join line feed", "\n"), ("blank line", "\n\n"), ("blank line", "\n \t\n"),
    ("join |", " | "), ("join |", "|"), ("join &&", " && "), ("join &&", "&&"), ("join ||", " || "), ("join ||", "||"),
    ("line feed behind |", " |\n"), ("line feed behind &&", " && \n"), ("line feed behind ||", "||\n\n"),
    ("join line feed", ";\n"),
)  # fmt: skip
"""The name of a production of the language, and a text that is one."""

READ_REDIRECTIONS = (
    ("2>&1", " 2>&1"), (">/dev/null", " >/dev/null"), ("1>/dev/null", " 1>/dev/null"), ("2>/dev/null", " 2>/dev/null"),
    ("</dev/null", " </dev/null"), ("blank behind >", " > /dev/null"), ("blank behind >", " 2> /dev/null"),
    ("blank behind >", " 1>\t/dev/null"),
)  # fmt: skip

READ_COMMENTS = (
    "# list them", "#", "# it's \"so", "# `x` $(y)", "#; rm -rf /", "#!/bin/sh", "# (", "# )",
)  # fmt: skip

COMPOUND = (
    "for x in a b; do {0}; done", "for x; do {0}; done", "for ((i=0;i<2;i++)); do {0}; done",
    "while {0}; do {1}; break; done", "until {0}; do {1}; done", "if {0}; then {1}; else {2}; fi",
    "case x in x) {0};; *) {1};; esac", "case x in (x) {0} ;& y) {1};; esac", "select x in a; do {0}; done", "( {0} )",
    "({0};{1})", "{{ {0}; }}", "{{ {0}; }} 2>&1", "f() {{ {0}; }}; f", "function f {{ {0}; }}; f", "ls() {{ {0}; }}; ls",
    "f() ({0}); f", "coproc {0}", "time {0}", "time -p {0}", "! {0}", "!{0}", "[[ x == x ]] && {0}", "[[ -n x || $({0}) ]]",
    "(( 1 )) && {0}", "(( # {0} ))", "(({0}));{1}", "{0} &", "{0} & {1}", "{0} |& {1}", "x=1 {0}", "x=$({0}) {1}", "x=({0})",
    "x+=1 {0}", "x[1]=2 {0}", "alias ls={0}\nls", "eval '{0}'", "eval \"{0}\"", "sh -c '{0}'", "trap '{0}' EXIT",
    "{0} <<E\n{1}\nE\n{2}", "{0} <<-E\n\t{1}\n\tE\n{2}", "{0} <<'E'\n{1}\nE\n", "{0} <<E | {1}\nx\nE\n{2}",
    "{0} <<E <<F\na\nE\nb\nF\n{1}", "{0} <<E\n$({1})\nE", "{0} <<E\n{1}", "{0} <<\\E\n{1}\nE", "{0} <<E\\\nF\n{1}\nEF\n",
    "{0} <<\"E F\"\n{1}\nE F\n", "{0} <<''\n{1}\n\n{2}", "{0} <<E;{1}\nx\nE", "{0} <<E #{1}\nx\nE",
    "{0} << E\n{1}\nE \nE\n{2}", "{0} <<E\n{1}\\\nE\nE", "`{0}`", "$({0})", "$( {0} ) {1}", "{0} $({1})", "{0} `{1}`",
    "{0} <({1})", "{0} >({1})", "{0} && {{ {1}; }}", "{0};}}", "{0})", "({0}", "{0};;", "then {0}", "do {0}", "done; {0}",
    "fi {0}", "esac {0}", "in {0}", "else {0}", "{{{0}}}", "repeat 2 {0}", "foreach x (a b) {0}; end", "if {0} {{ {1} }}",
    "while {0} {{ {1} }}", "always {{ {0} }}", "{{ {0} }} always {{ {1} }}", "nocorrect {0}", "- {0}", "exec {0}",
    "command {0}", "command -p {0}", "builtin {0}", "env {0}", "nohup {0}", "\\{0}", "'{0}'", "\"{0}\"", "=ls {0}", "{0}\r",
    "{0}\r\n{1}\r\n", "{0}\\\n{1}", "{0} \\\n {1}", "{0}\\\r\n{1}", "{0} #\\\n{1}", "{0} #{1}\n{2}", "{0}#{1}", "{0} '#'{1}",
    "#{0}\n{1}", " #{0}\n{1}", "{0};#{1}\n{2}", "{0}|#{1}\n{2}", "#!/bin/sh\n{0}", "#!/bin/bash\n{0}", "#! /bin/sh\n{0}",
    "#!/bin/rm\n{0}", "#!/bin/sh -c\n{0}", "{0}\n#!/bin/bash\n{1}", "{0} -- {1}", "{0}\x00{1}", "{0};\n;{1}", "&& {0}",
    "| {0}", "; {0}", "{0} &&", "{0} ||\n", "{0} |", "{0}\n\n\n", "\n\n{0}", " \t{0} \t", "{0} 2>&1 | {1}",
    "{0} </dev/null | {1}", "{0} | {1} </dev/null", "{0} || {1} && {2}", "{0};{1};{2};", "{0}\n{1}\n{2}\n",
    "{0} | {1} | {2}", "{0}; [ -x /bin/ls ] && {1}",
)  # fmt: skip
"""Shapes of a text; a number stands for a command. What a shell understands by some of them no other does."""

MARKS = (
    "E", "EOF", "_x1", "END_OF", "a", "done", "fi", "LIST",
)  # fmt: skip

LISTS = (
    "list cell", "list griddisk attributes name,size", "list cell detail", "LIST CELLDISK",
    "list griddisk where name like 'DATA.*'", "list flashcache detail; list flashlog", "list cell;", "  list celldisk  ",
    "help list", "describe griddisk",
)  # fmt: skip
"""Statements for CellCLI that read."""

CLIENT_WORDS = (
    "HELP", "help list", "REM a remark", "SET ECHO OFF", "set dateformat local", "EXIT", "QUIT", "exit;", "rem it",
)  # fmt: skip
"""What CellCLI's client answers itself. Source: Exadata System Software User's Guide, CellCLI command-line utility."""

CHANGES = (
    "drop celldisk all", "alter flashcache all flush", "list cell; drop flashcache", "spool /tmp/x", "start x", "@x", "!ls",
    "list cell > x", "host ls", "list cell # x", "list cell -\ndetail", "calibrate", "export cellsoftware x", "list cell \\",
    "set echo on; @@x",
)  # fmt: skip

SQL = (
    "select name from v$database;", "select 1 from dual;", "set pagesize 0\nselect name from v$asm_diskgroup;\nexit",
    "select name, total_mb from v$asm_diskgroup;\nexit;", "set heading off\nset lines 200\nselect count(*) from v$session;\nexit",
    "select name from v$asm_disk where failgroup = 'X';", "select sysdate from dual;\n\nexit\n", "drop table x;", "exit",
    "select 1 from dual;\nshutdown abort", "select 1 from dual;\n!reboot", "select 1\nfrom dual -\n;", "@/tmp/x",
)  # fmt: skip

STRAYS = (
    "-o", "-o/tmp/x", "--output=x", "--", "-", "-x", "-i", "-w", "-d", "-f", "-c", "-s", "--set=1", "-exec", "x", "1",
    "/etc/passwd", "0", "+x", "/tmp/x", "/var/log/../../x", "/var/log//messages", "/var/log/./messages", "/dev/null",
    "/dev/watchdog", "/proc/kmsg", "x=y", "-n", "-1", "all", "--help", "--version", "-uo/tmp/x", "%x", "+%F", "@x", "a b",
    "", "-e", "-v", "-a", "-S", "-T", "~", "{a,b}", "$x", "a*", "/var/log/*", "=ls", "/etc/*", "/var/log/.*", "/*",
    "/var/*/x", "--out", "-rn", "-nr5", "-h", "add", "set", "clear", "save", "-p", "-t", "\\", "!", "!!",
)  # fmt: skip
"""Words that a row may take for something else than they are."""
