"""What the small language makes of texts that are read: programs, their words, and what they get."""

from __future__ import annotations

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.shell import read_shell
from tests.support.every import every

READS: dict[str, list[list[list[str]]]] = {
    "hostname": [[["hostname"]]],
    "hostname ; uptime": [[["hostname"]], [["uptime"]]],
    "hostname;uptime;": [[["hostname"]], [["uptime"]]],
    "hostname; \n uptime ;\n": [[["hostname"]], [["uptime"]]],
    "hostname&&uptime||date": [[["hostname"]], [["uptime"]], [["date"]]],
    "hostname &&\n\n uptime ||\ndate": [[["hostname"]], [["uptime"]], [["date"]]],
    "ps -ef|grep x|wc -l": [[["ps", "-ef"], ["grep", "x"], ["wc", "-l"]]],
    "ps -ef |\n grep x": [[["ps", "-ef"], ["grep", "x"]]],
    "ps -ef | # the rest\n\n grep x": [[["ps", "-ef"], ["grep", "x"]]],
    "\n\n\thostname\t-f\n\n": [[["hostname", "-f"]]],
    "# first\nhostname # second; reboot\n#third": [[["hostname"]]],
    "#!/bin/sh\nhostname": [[["hostname"]]],
    "#!/bin/bash\nhostname\n": [[["hostname"]]],
    "'hostname' \"-f\"": [[["hostname", "-f"]]],
    "host'name' -\"f\"": [[["hostname", "-f"]]],
    "grep 'a b'\"c;d\"e /etc/hosts": [[["grep", "a bc;de", "/etc/hosts"]]],
    "grep '$x`y`\\!#' /etc/hosts": [[["grep", "$x`y`\\!#", "/etc/hosts"]]],
    'grep "it\'s" /etc/hosts': [[["grep", "it's", "/etc/hosts"]]],
    "grep '\"' /etc/hosts": [[["grep", '"', "/etc/hosts"]]],
    "grep 'a*b?' /etc/hosts": [[["grep", "a*b?", "/etc/hosts"]]],
    "grep 'a\tb' /etc/hosts": [[["grep", "a\tb", "/etc/hosts"]]],
    "df -h 2>/dev/null": [[["df", "-h"]]],
    "df -h > /dev/null 2>&1": [[["df", "-h"]]],
    "df 1>/dev/null -h": [[["df", "-h"]]],
    "df 2> /dev/null;uptime": [[["df"]], [["uptime"]]],
    "df 2>&1|grep x": [[["df"], ["grep", "x"]]],
    "uptime </dev/null": [[["uptime"]]],
    "cat /etc/*release": [[["cat", "/etc/*release"]]],
    "ls -l /var/log/cron*.log": [[["ls", "-l", "/var/log/cron*.log"]]],
    "cat //etc/./hosts": [[["cat", "//etc/./hosts"]]],
    "/usr/bin/uptime -p": [[["/usr/bin/uptime", "-p"]]],
    "date '+%F %T'": [[["date", "+%F %T"]]],
    "date +%s": [[["date", "+%s"]]],
    "sort -k2n -t, /etc/hosts": [[["sort", "-k2n", "-t,", "/etc/hosts"]]],
    "ls /etc/hosts -l": [[["ls", "/etc/hosts", "-l"]]],
    "cellcli -e list cell detail": [[["cellcli", "-e", "list", "cell", "detail"]]],
    "cellcli -n -x -e 'list cell; list lun' | cat": [[["cellcli", "-n", "-x", "-e", "list cell; list lun"], ["cat"]]],
    "cellcli <<EOF\nlist cell\nEOF\nuptime": [[["cellcli"]], [["uptime"]]],
    "cellcli <<EOF;\nlist cell\nEOF\nuptime": [[["cellcli"]], [["uptime"]]],
    "cellcli -n << 'EOF' | grep x; uptime\nlist cell\nEOF": [[["cellcli", "-n"], ["grep", "x"]], [["uptime"]]],
}
"""A text → its pipelines, each the argv of its commands."""


@pytest.mark.parametrize("text", READS, ids=ascii)
def test_words_are_what_programs_get(text: str) -> None:
    """A text that is read comes apart into pipelines and words as a shell takes it apart."""
    found = read_shell(text)
    assert [[list(command.words) for command in pipeline] for pipeline in found.pipelines] == READS[text]


def test_only_what_is_not_quoted_is_a_pattern() -> None:
    """The place of a pattern is told, and a quoted star is none."""
    ((command,),) = read_shell("cat /etc/hosts /etc/*release").pipelines
    assert command.globs == frozenset((2,))
    ((command,),) = read_shell("grep '*' /etc/hosts").pipelines
    assert command.globs == frozenset()


def test_what_stands_behind_a_pipe_is_told() -> None:
    """Only commands behind | are piped."""
    (pipeline, alone) = read_shell("ps -ef | grep x\nuptime").pipelines
    assert [command.piped for command in (*pipeline, *alone)] == [False, True, False]


def test_a_path_is_read_as_the_row_of_its_name() -> None:
    """A command in a system's folder is judged by the row of its name."""
    ((command,),) = read_shell("/bin/df -h").pipelines
    assert command.row == "df"
    assert command.words[0] == "/bin/df"


FIGURES = """
/dev/null /proc/meminfo /proc/net/dev /proc/net/bonding/bondeth0 /proc/sys/kernel/hostname /proc/sys/vm/nr_hugepages
/sys/class/net/eth0/speed /sys/class/infiniband/mlx4_0/ports/1/state /sys/class/dmi/id/product_name /proc//./loadavg
"""


@pytest.mark.parametrize("path", FIGURES.split())
def test_well_known_figures_of_the_kernel_are_read(path: str) -> None:
    """Files of /proc and /sys that only tell a figure are read, though nothing else there is."""
    assert read_shell(f"cat {path}").pipelines
    with pytest.raises(UnreadError):
        read_shell(f"cat {path}/x")


DOCUMENTS = {
    "cellcli <<EOF\nlist cell\n\nlist lun ;\nEOF\n": ("list cell\n\nlist lun ;\n", ("list cell", "list lun")),
    "cellcli <<'E_1'\nlist cell where name like '$x'\nE_1": (
        "list cell where name like '$x'\n",
        ("list cell where name like '$x'",),
    ),
    'cellcli <<"EOF"\nlist cell -\n detail\nEOF': ("list cell -\n detail\n", ("list cell   detail",)),
    "cellcli <<EOF\nEOF": ("", ()),
    "cellcli <<EOF\n-- drop flashcache\nrem drop flashcache\nEOF": (
        "-- drop flashcache\nrem drop flashcache\n",
        ("rem drop flashcache",),
    ),
    "cellcli <<EOF\nEOFx\nEOF": ("EOFx\n", ("EOFx",)),
    "cellcli <<EOF\nlist cell; list lun\nEOF": ("list cell; list lun\n", ("list cell", "list lun")),
}


@pytest.mark.parametrize("text", DOCUMENTS, ids=ascii)
def test_here_document_is_kept_and_taken_apart(text: str) -> None:
    """A here-document's lines are kept as they are, and CellCLI's statements in them come out in order."""
    ((command,),) = read_shell(text).pipelines
    assert (command.document, command.statements) == DOCUMENTS[text]


def test_sql_in_a_here_document_is_judged_as_sql() -> None:
    """A query that reads is read in a here-document for sqlplus, and what changes something is not."""
    query = "set lines 200\nselect name, state from v$asm_diskgroup;\nexit\n"
    ((command, _),) = read_shell(f"sqlplus -s '/ as sysasm' <<'EOF' | cat\n{query}EOF").pipelines
    assert (command.row, command.document, command.statements) == ("sqlplus", query, ())
    with pytest.raises(UnreadError, match="drop: "):
        read_shell("sqlplus / as sysasm <<EOF\ndrop diskgroup DATA;\nEOF")


FIRST_LINES = (
    "",
    "#!/bin/sh",
    "#!/bin/bash",
    "#! /bin/sh",
    "#!\t/bin/bash",
    "#!/usr/bin/env bash",
    "#! /usr/bin/env  bash",
)
OPTIONS = [f"#!/bin/{shell} -{option}" for shell in ("sh", "bash") for option in "xvue"]
OTHERS = [f"#!/bin/sh -{option}" for option in "fntsric"]
OTHERS += ["#!/bin/ksh", "#!/bin/zsh", "#!/usr/bin/perl", "#!/usr/bin/env sh", "#!/usr/bin/env bash -e", "#!", "#!sh"]
OTHERS += ["#!/bin/sh -x -e", "#!/bin/sh -xe", "#!/bin/sh ", "#!     /bin/sh", "#!/bin/sh;"]


@every([*FIRST_LINES, *OPTIONS])
def test_first_lines_of_scripts_that_are_read(first: str) -> None:
    """A script is read without a first line of its own, and with one that names sh or bash and changes nothing of the rest."""
    assert read_shell(f"{first}\nls\n", script=True) == read_shell("ls")
    assert read_shell(f"{first}\nls\n") == read_shell("ls")


@every(OTHERS)
def test_first_lines_of_scripts_that_are_not_read(first: str) -> None:
    """A script for another program, or with an option that changes what the rest means, is unread, and the way is named."""
    for script in (True, False):
        with pytest.raises(UnreadError, match="a first line that names another program") as raised:
            read_shell(f"{first}\nls\n", script=script)
        assert raised.value.instead == "begin it with the line #!/bin/sh"


WAYS_OUT = {
    "for i in a b; do cellcli -e list cell $i; done": "-f FILE",
    "while read x; do cellcli -e list $x; done": "recipe",
    "bash <<EOF\nuptime\nEOF": "recipe",
    "cat <<EOF | sh\nuptime\nEOF": "-f FILE",
    "cellcli <<EOF\nlist cell": "-e 'list cell",
    "cellcli <<EOF\nlist $x\nEOF": "<<'EOF'",
    "echo list cell | cellcli": "cellcli -e",
    "cat /etc/x.scl | cellcli": "-f FILE",
    "cellcli < x.scl": "-f FILE",
    "ls $HOME": "parameters",
    "cellcli -e list griddisk where size > 1G": "put the condition in quotes",
    "cellcli -e list griddisk where name = (a)": "put the condition in quotes",
    "cellcli -e list griddisk where name =\\'a\\'": "put the condition in quotes",
    "cellcli -e list griddisk where name like \\'a.*\\'": "put the condition in quotes",
    "cellcli <<$x\nlist cell\nEOF": "quote the mark: <<'EOF'",
    "cellcli <<!\nlist `x`\n!": "quote the mark: <<'!'",
    "uptime > /tmp/x": "> FILE",
    "list cell": "leave the sh",
    "scp x y:": "copy",
}


@pytest.mark.parametrize("text", WAYS_OUT, ids=ascii)
def test_the_way_to_do_it_in_exacell_is_named(text: str) -> None:
    """For what people do with loops, here-documents and pipes, the error names how exacell does it."""
    with pytest.raises(UnreadError) as caught:
        read_shell(text)
    assert WAYS_OUT[text] in caught.value.instead
