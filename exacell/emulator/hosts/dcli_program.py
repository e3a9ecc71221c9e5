"""The ``dcli`` program for the PATH of programs that use an emulated rack: dcli 3.5's command line over the system's ssh.

Run by path with ``python -I -S`` as ``dcli_program.py <ssh_config> <argument>…``. It is written from reference dcli.md
alone and shares no code with exacell's own dcli, so that the two can be compared; messages that no public source quotes
are made up. It needs only ssh and scp on this machine.
"""

import optparse
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

UNREACHABLE = 255
TIMED_OUT = 124
TEMPORARY = "/var/log/exadatatmp/"
SSH, SCP = "/usr/bin/ssh", "/usr/bin/scp"
MANY_LINES = 100000
_ONE_ROUND = re.compile(r"-\w*[fsmpDdV]")


class Usage(Exception):
    """The command line is wrong: print the message, then the options; the exit status is 2."""


class Environment(Exception):
    """Something that dcli needs is missing: print the message; the exit status is 2."""


def parser() -> optparse.OptionParser:
    """Return the option parser; options end at the first word that is not one."""
    made = optparse.OptionParser(
        usage="usage: %prog [options] [command]", version="version 3.5", description="Run a command on many hosts."
    )
    made.disable_interspersed_args()
    add = made.add_option
    add("-c", action="append", dest="hosts", default=[], help="hosts, separated by commas")
    add("-d", dest="destination", help="destination of -f and -x")
    add("-f", action="append", dest="files", default=[], help="files to copy")
    add("-g", dest="group", help="file of hosts, one a line")
    add("-k", action="store_true", dest="push", help="push the ssh key")
    add("--key-with-one-password", action="store_true", dest="one_password", help="push it with one password")
    add("-l", dest="user", help="login")
    add("--root-exadatatmp", action="store_true", dest="root_temporary", help="root, in " + TEMPORARY)
    add("--maxlines", type="int", dest="maxlines", default=MANY_LINES, help="limit of output lines")
    add("-n", action="store_true", dest="abnormal", help="show what failed")
    add("-r", dest="regex", help="hide lines that match")
    add("-s", dest="ssh", default="", help="options for ssh")
    add("--scp", dest="scp", help="options for scp")
    add("--serial", action="store_true", dest="serial", help="one host at a time")
    add("--showbanner", action="store_true", dest="banner", help="show what ssh says")
    add("-t", action="store_true", dest="targets", help="list the hosts")
    add("--unkey", action="store_true", dest="drop", help="drop the ssh key")
    add("-v", action="count", dest="verbose", default=0, help="verbose")
    add("--vmstat", dest="vmstat", help="vmstat of all hosts")
    add("-x", dest="script", help="file to copy and run")
    add("--batchsize", type="int", dest="batch", help="so many hosts at a time")
    add("--hidestderr", action="store_true", dest="hide", help="hide the command's stderr")
    add("--ctimeout", type="int", dest="ctimeout", help="seconds for connecting")
    add("--timeout", type="float", dest="timeout", help="seconds for the command")
    add("--prompt", action="store_true", dest="prompt", help="let ssh ask")
    add("--preserve-spaces", action="store_true", dest="preserve", help="keep leading blanks")
    return made


def check(options: optparse.Values, words: list[str]) -> None:
    """Raise Usage for options that exclude each other, in dcli's order of checks."""
    keys = options.push or options.one_password or options.drop
    if not (words or options.script or options.files or keys or options.targets or options.vmstat is not None):
        raise Usage("No command specified")
    rules = [
        (options.script and words, "-x and a command exclude each other"),
        (options.script and options.files, "-x and -f exclude each other"),
        (options.hide and not words, "--hidestderr needs a command"),
        (options.abnormal and options.regex is not None, "-n and -r exclude each other"),
        (options.vmstat is not None and (options.script or options.files or words), "--vmstat stands alone"),
        (options.vmstat is not None and (options.abnormal or options.regex is not None), "--vmstat has no -n, no -r"),
        (options.ctimeout is not None and options.ctimeout < 0, "--ctimeout is negative"),
        (options.root_temporary and options.user not in (None, "root"), "--root-exadatatmp is for root"),
        (options.serial and options.batch, "--serial and --batchsize exclude each other"),
        ((options.batch or 0) < 0, "--batchsize is less than 0"),
    ]
    for wrong, message in rules:
        if wrong:
            raise Usage(message)


def targets_of(options: optparse.Values) -> list[str]:
    """Return the hosts: those of the group file, then those of -c, each once."""
    found = []
    if options.group:
        try:
            with open(options.group) as file:
                lines = [line.strip() for line in file]
        except OSError:
            raise Environment("Group file not readable: " + options.group) from None
        found += [line for line in lines if line and not line.startswith("#")]
    found += [item.strip() for text in options.hosts if text for item in text.split(",")]
    if not found:
        raise Usage("No hosts specified")
    return list(dict.fromkeys(found))


def files_of(options: optparse.Values) -> list[str]:
    """Return the files to copy, as the user wrote them.

    Raises:
        Environment: a file does not exist.
    """
    names = [options.script] if options.script else [name for text in options.files for name in text.split()]
    for name in names:
        path = os.path.expandvars(os.path.expanduser(name))
        wild = any(letter in path for letter in "*?[")
        if not os.path.exists(path) and not wild:
            raise Environment("File does not exist: " + name)
        if options.script and not (os.path.isfile(path) and os.stat(path).st_mode & 0o100):
            raise Environment("Not an executable file: " + name)
    if options.destination and not names:
        raise Usage("-d needs -f or -x")
    return names


def public_key() -> str:
    """Return the caller's public RSA key as one line; the key is made first if there is none."""
    path = os.path.expanduser("~/.ssh/id_rsa.pub")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", path[:-4]], stdout=subprocess.DEVNULL, check=False
        )
    with open(path) as file:
        return file.read().strip()


class Host:
    """The output and the exit status of one host."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.status = 0
        self.lines: list[str] = []
        self.said = ""
        self.copied = True


class Dcli:
    """One run of dcli."""

    def __init__(self, config: str, options: optparse.Values, words: list[str]) -> None:
        self.options = options
        self.config = config
        self.words = " ".join(words)
        self.user = options.user or ("root" if options.root_temporary else "celladmin")
        self.hosts = targets_of(options)
        self.files = files_of(options)
        self.lock = threading.Lock()
        self.bad: list[str] = []
        self.worst = 0

    def option_string(self, given: str) -> str:
        """Return the options for ssh (or for scp) as one piece of shell text."""
        parts = ["-F", shlex.quote(self.config)] + ([given] if given else [])
        if not (self.options.prompt or self.options.push or self.options.one_password):
            parts += ["-o BatchMode=yes", "-o strictHostKeyChecking=yes"]
        connect = self.options.ctimeout if self.options.ctimeout is not None else 5
        parts.append(f"-o ConnectTimeout={connect}")
        for name, value in (("ServerAliveInterval", 60), ("ServerAliveCountMax", 5)):
            if name.lower() not in given.lower():
                parts.append(f"-o {name}={value}")
        return " ".join(parts)

    def ssh_line(self, host: str, command: str) -> str:
        """Return the local shell's command line that runs ``command`` on a host."""
        quoted = "'" + command.replace("'", "'\\''") + "'"
        return f"{SSH} {self.option_string(self.options.ssh)} -l {self.user} {host} {quoted}"

    def wrapped(self, words: str) -> str:
        """Return the remote command in the quotes that dcli puts around it."""
        into = "2>/dev/null" if self.options.hide else "2>&1"
        where = f"cd {TEMPORARY}; " if self.options.root_temporary else " "
        text = f"({where}{words}) {into}"
        if self.options.timeout is not None:
            text = f"timeout {self.options.timeout}s /bin/sh -c '{text}'"
        return text

    def destination(self) -> str:
        """Return the destination of copied files, as scp expects it."""
        given = str(self.options.destination or "") or (
            os.path.basename(self.options.script) if self.options.script else ""
        )
        if given.startswith(("/", "\\~", "\\$")):
            return given
        return (TEMPORARY if self.options.root_temporary else "./") + given

    def steps(self, host: str) -> Iterator[str]:
        """Yield the local shell's command lines for one host, in order."""
        options = self.options
        if options.one_password:
            yield "expect -"
        elif options.push:
            key = public_key()
            yield self.ssh_line(
                host,
                f'cd; mkdir -p .ssh; chmod 700 .ssh; if grep -qF "{key}" .ssh/authorized_keys 2>/dev/null; then '
                f'echo ssh key already exists; else echo "{key}" >> .ssh/authorized_keys; chmod 644 .ssh/authorized_keys; '
                "echo ssh key added; fi",
            )
        if self.files:
            if options.destination and options.destination.endswith("/"):
                yield self.ssh_line(host, "mkdir -p " + options.destination)
            given = options.scp if options.scp is not None else self.option_string(options.ssh)
            base = f"-F {shlex.quote(self.config)} " if options.scp is not None else ""
            keep = "-p " if options.script and "-p" not in given else ""
            names = " ".join(self.files)
            yield f"{SCP} {base}{given} {keep}{names} {self.user}@{host}:{self.destination()}"
        if options.script:
            base = os.path.basename(options.script)
            place = self.destination()
            run, inside = (place, os.path.join(place, base))
            if base.endswith(".scl"):
                run, inside = "cellcli -e @" + place, "cellcli -e @" + inside
            yield self.ssh_line(host, self.wrapped(f"if [[ -d {place} ]]; then {inside}; else {run}; fi"))
        if self.words:
            yield self.ssh_line(host, self.wrapped(self.words))
        if options.drop:
            key = public_key().split()[1]
            yield self.ssh_line(
                host,
                f'cd; if grep -qF "{key}" .ssh/authorized_keys 2>/dev/null; then grep -vF "{key}" .ssh/authorized_keys > '
                ".ssh/left; cat .ssh/left > .ssh/authorized_keys; rm .ssh/left; echo ssh key dropped; else "
                "echo ssh key did not exist; fi",
            )

    def one(self, host: Host, lines: list[str]) -> None:
        """Run the steps on one host; store output and status in ``host``."""
        with tempfile.NamedTemporaryFile(prefix="banner_", suffix="." + host.name.replace("/", "_")) as banner:
            for line in lines:
                with self.lock:
                    if self.options.verbose:
                        print("execute: " + line)
                for codec in ("utf-8", "latin-1"):
                    done = subprocess.run(
                        line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=banner, check=False
                    )
                    try:
                        text = done.stdout.decode(codec)
                    except UnicodeDecodeError:
                        # As dcli does: run the command again to read its output as Latin-1.
                        continue
                    break
                text = text.replace("\r\n", "\n").replace("\r", "\n")
                host.lines += text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []
                if self.options.timeout is not None and done.returncode == TIMED_OUT:
                    host.lines.append(f"Timeout expired for pid {os.getpid()} to {host.name}...")
                if done.returncode:
                    host.status = max(done.returncode, 0)
                    host.copied = not line.startswith(SCP)
                    break
            banner.seek(0)
            host.said = banner.read().decode("utf-8", "replace").replace("\r\n", "\n")
        with self.lock:
            for _ in range(1 if host.copied else 2):
                for line in host.said.splitlines(keepends=True):
                    print(f"{host.name}:{line}")
            sys.stdout.flush()
            if host.status == UNREACHABLE:
                self.bad.append(host.name)

    def show(self, host: Host, line: str) -> None:
        """Print one line with its prefix."""
        print(f"{host.name}: {line.rstrip() if self.options.preserve else line.strip()}")

    def report(self, hosts: list[Host]) -> None:
        """Print the hosts' output in their order; output longer than --maxlines comes first."""
        limit = self.options.maxlines
        cut = len(hosts) > 1 and not self.options.serial
        for host in hosts:
            while len(host.lines) > limit:
                head = Host(host.name)
                head.lines, host.lines = host.lines[: limit + 1], [] if cut else host.lines[limit + 1 :]
                self.show_all([head], banner=False)
                if cut:
                    host.status = 1
                    print(
                        f"\nError: output of {host.name} is longer than --maxlines\nmore of it: retry", file=sys.stderr
                    )
        self.show_all(hosts)
        self.worst = max([self.worst] + [1 for host in hosts if host.status])

    def show_all(self, hosts: list[Host], *, banner: bool = True) -> None:
        """Print the hosts' output in the form that -n, -r and --showbanner ask for; no banner if ``banner`` is false."""
        options = self.options
        pattern = re.compile(options.regex) if options.regex is not None else None
        if options.abnormal:
            good = [host.name for host in hosts if not host.status]
            if good:
                print(f"OK: {good}")
        if pattern is not None:
            hit = [host.name for host in hosts if any(pattern.match(line.strip()) for line in host.lines)]
            if hit:
                print(f"{options.regex}: {hit}")
        for host in hosts:
            if banner and options.banner and host.status != UNREACHABLE:
                for line in ["******BANNER******", *host.said.splitlines(), "******BANNER******"]:
                    self.show(host, line)
            if options.abnormal and not host.status:
                continue
            for line in host.lines:
                if pattern is None or not pattern.match(line.strip()):
                    self.show(host, line)

    def batch(self, names: list[str], command: str | None = None) -> list[Host]:
        """Work on some hosts in parallel and return them."""
        hosts = [Host(name) for name in names]
        threads = []
        for host in hosts:
            lines = self.steps(host.name) if command is None else [self.ssh_line(host.name, command)]
            thread = threading.Thread(target=self.one, args=(host, list(lines)), daemon=True)
            thread.start()
            if self.options.serial or self.options.push:
                thread.join()
            threads.append(thread)
        for thread in threads:
            thread.join()
        if self.bad:
            print(f"Unable to connect to hosts: {self.bad}", file=sys.stderr)
            self.bad = []
            self.worst = 1
        return hosts

    def run(self) -> int:
        """Run all steps on all hosts and return the exit status."""
        options = self.options
        if options.targets:
            print(f"Target hosts: {self.hosts}")
        size = options.batch
        if not size:
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            size = max(1, (limit - 10) // 7) if len(self.hosts) > 1 else 1
            size = len(self.hosts) if options.serial else size
        slices = [self.hosts[at : at + size] for at in range(0, len(self.hosts), size)]
        if options.vmstat is not None:
            return self.vmstat(slices)
        if not (self.words or self.files or options.push or options.one_password or options.drop):
            return 0
        for names in slices:
            self.report(self.batch(names))
        return self.worst

    def vmstat(self, slices: list[list[str]]) -> int:
        """Show vmstat: unchanged, or round by round as one table; return the exit status."""
        words = self.options.vmstat.split()
        numbers = [int(word) for word in words if word.isdecimal()]
        if any(_ONE_ROUND.match(word) for word in words) or len(numbers) > 2 or 0 in numbers:
            for names in slices:
                self.report(self.batch(names, f"vmstat {self.options.vmstat}"))
            return self.worst
        switches = " ".join(word for word in words if not word.isdecimal() and word != "-n")
        rounds = numbers[1] if len(numbers) > 1 else None if numbers else 1
        number = 0
        while rounds is None or number < rounds:
            number += 1
            sample = f"vmstat {switches}" if number == 1 else f"vmstat {switches} {numbers[0]} 2"
            for names in slices:
                hosts = self.batch(names, sample)
                if any(host.status or len(host.lines) < 3 for host in hosts):
                    self.report(hosts)
                    return 1
                self.table(hosts, header=number == 1 or "-n" not in words)
        return self.worst

    def table(self, hosts: list[Host], *, header: bool) -> None:
        """Print one round of vmstat."""
        rows = {host.name: [int(word) for word in host.lines[-1].split()] for host in hosts}
        width = max([len("Minimum")] + [len(name) for name in rows])
        columns = list(zip(*rows.values(), strict=True))
        shown = list(rows.items())
        if len(rows) > 1:
            averages = [(sum(column) + len(column) // 2) // len(column) for column in columns]
            shown += [
                ("Minimum", [min(c) for c in columns]),
                ("Maximum", [max(c) for c in columns]),
                ("Average", averages),
            ]
        titles = hosts[0].lines[1].split()
        sizes = [max(len(str(v)) for v in (title, *column)) for title, column in zip(titles, columns, strict=True)]
        if header:
            print(" " * width + " " + hosts[0].lines[0].strip())
            names = " ".join(title.rjust(size) for title, size in zip(titles, sizes, strict=True))
            print(time.strftime("%H:%M:%S").rjust(width) + ":" + names)
        for name, values in shown:
            line = " ".join(str(value).rjust(size) for value, size in zip(values, sizes, strict=True))
            print(name.rjust(width) + ":" + line)
        sys.stdout.flush()


def main() -> int:
    """Run dcli with the process's arguments and return its exit status."""
    config, argv = sys.argv[1], sys.argv[2:]
    made = parser()
    made.prog = "dcli"
    options, words = made.parse_args(argv)
    try:
        check(options, words)
        return Dcli(config, options, words).run()
    except Usage as error:
        print(f"Error: {error}", file=sys.stderr)
        made.print_help()
        return 2
    except Environment as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        print("Keyboard interrupt")
        sys.stdout.flush()
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
