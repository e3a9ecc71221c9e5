"""Define dcli's options, for its parser and for completion: names with hyphens, values and effects."""

from __future__ import annotations

from exacell.language.registry import Flag, Kind

DCLI_OPTIONS: tuple[Flag, ...] = (
    Flag(name="--batchsize", help="at most N targets at a time, each batch with its own output", value=Kind.INT),
    Flag(name="-c", help="comma separated targets; may be repeated", value=Kind.CELLSET),
    Flag(name="--ctimeout", help="limit for connecting (5)", value=Kind.INT),
    Flag(name="-d", help="where -f and -x put the file: a file or directory", value=Kind.TEXT),
    Flag(name="-f", help="files to copy; may be repeated", value=Kind.FILE),
    Flag(name="-g", help="a file of targets, one a line", value=Kind.FILE),
    Flag(name="--help", short="-h", help="this page"),
    Flag(name="--hidestderr", help="drop the standard error of the command"),
    Flag(name="-k", help="put your public key on the targets first"),
    Flag(name="--key-with-one-password", help="like -k, on all targets at once; exacell asks for no password"),
    Flag(name="-l", help="log in as USER (celladmin)", value=Kind.TEXT, words=("celladmin", "cellmonitor", "root")),
    Flag(name="--live", help="print lines as they arrive"),
    Flag(name="--maxlines", help="stop a target's output after N lines (100000)", value=Kind.INT),
    Flag(name="-n", help="list the targets that succeeded, print the others"),
    Flag(name="--preserve-spaces", help="keep leading blanks of lines"),
    Flag(name="--prompt", help="accepted; exacell never asks for passwords or host keys"),
    Flag(name="-r", help="name the targets with matching lines, print the other lines", value=Kind.TEXT),
    Flag(name="--root-exadatatmp", help="as root, in /var/log/exadatatmp"),
    Flag(name="-s", help="ssh's options: -p, -i, -F, -J and -o are understood", value=Kind.TEXT),
    Flag(name="--scp", help="scp's options: -r, -p, -P, -i, -F, -J and -o are understood", value=Kind.TEXT),
    Flag(name="--serial", help="one target after the other"),
    Flag(name="--showbanner", help="put what ssh said in front of the output"),
    Flag(name="-t", help="list the targets"),
    Flag(name="--timeout", help="limit for the command on each target", value=Kind.NUMBER),
    Flag(name="--unkey", help="take your public key off the targets at the end"),
    Flag(name="-v", help="print what is done, on standard output"),
    Flag(name="--version", help="say the version"),
    Flag(
        name="--vmstat", help="vmstat of all targets side by side: interval and count, as for vmstat", value=Kind.TEXT
    ),
    Flag(name="-x", help="copy FILE and run it; a .scl file is run by cellcli", value=Kind.FILE),
)
"""The options of dcli, in the order in which it lists them."""
