"""The RPM: the one file as /usr/bin/exacell, with manual, completions, recipes and licences.

rpmbuild makes it; the same files give the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SPEC = """\
Name: exacell
Version: {version}
Release: 1
Summary: Interactive shell, command line and recipe runner for Oracle Exadata storage cells
License: Apache-2.0
ExclusiveArch: x86_64
AutoReqProv: no

%description
Sends CellCLI to all cells, prepares and measures benchmarks, and takes care of cells. It needs no Python and no other package.

%install
cp -a {tree}/. %{{buildroot}}

%files
%attr(0755, root, root) /usr/bin/exacell
%attr(0644, root, root) %doc /usr/share/man/man1/exacell.1.gz
%attr(0644, root, root) /usr/share/bash-completion/completions/exacell
%attr(0644, root, root) /usr/share/zsh/site-functions/_exacell
%attr(0644, root, root) /usr/share/fish/vendor_completions.d/exacell.fish
%defattr(0644, root, root, 0755)
# Of the shells' packages, which need not be there: removed with the last package that has them.
%dir /usr/share/bash-completion
%dir /usr/share/bash-completion/completions
%dir /usr/share/zsh
%dir /usr/share/zsh/site-functions
%dir /usr/share/fish
%dir /usr/share/fish/vendor_completions.d
%dir /usr/share/exacell
/usr/share/exacell/recipes
%license /usr/share/licenses/exacell
"""
_OPTIONS = {
    "_topdir": "{work}/rpm",
    "_buildhost": "localhost",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
    "source_date_epoch_from_changelog": "0",
    "_binary_payload": "w0.gzdio",  # The one file is compressed already; rpm of Oracle Linux 8 reads gzip.
    "_binary_filedigest_algorithm": "8",
    "__os_install_post": "%{nil}",  # Nothing of it is to be stripped: the one file ends with what it unpacks.
    "_build_id_links": "none",
    "debug_package": "%{nil}",
}
programs = ("rpmbuild",)


def write(work: Path, source: Path, executable: Path, licences: Path, version: str, to: Path, epoch: int) -> None:
    """Write the RPM.

    Args:
        work: a folder of its own.
        source: the tree with docs/man, completions and recipes.
        executable: the one file.
        licences: the folder with the licences of its parts.
        version: exacell's.
        to: the RPM.
        epoch: the time of all that is in it.
    """
    tree = work / "tree"
    _put(executable, tree / "usr/bin/exacell", 0o755)
    manual = tree / "usr/share/man/man1/exacell.1"
    _put(source / "docs/man/exacell.1", manual)
    subprocess.run(["gzip", "-9n", manual], check=True)
    _put(source / "completions/exacell.bash", tree / "usr/share/bash-completion/completions/exacell")
    _put(source / "completions/_exacell", tree / "usr/share/zsh/site-functions/_exacell")
    _put(source / "completions/exacell.fish", tree / "usr/share/fish/vendor_completions.d/exacell.fish")
    for recipe in sorted((source / "recipes").glob("*.exa")):
        _put(recipe, tree / "usr/share/exacell/recipes" / recipe.name)
    for text in sorted(licences.iterdir()):
        _put(text, tree / "usr/share/licenses/exacell" / text.name)
    _put(source / "LICENSE", tree / "usr/share/licenses/exacell/LICENSE")
    for path in (tree, *tree.rglob("*")):
        os.utime(path, (epoch, epoch))
    spec = work / "exacell.spec"
    spec.write_text(SPEC.format(version=version, tree=tree))
    options = [
        word
        for name, value in _OPTIONS.items()
        for word in ("--define", f"{name} {value.format(work=work) if name == '_topdir' else value}")
    ]
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    words = ["rpmbuild", "--quiet", "-bb", "--target", "x86_64-linux", *options, str(spec)]
    subprocess.run(words, check=True, env=env, stdout=subprocess.DEVNULL)
    (built,) = (work / "rpm").rglob("*.rpm")
    shutil.copy(built, to)


def _put(file: Path, to: Path, mode: int = 0o644) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, to)
    to.chmod(mode)
