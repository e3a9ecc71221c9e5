"""The pages lead each reader to his page: links, the index, and the length of what everybody reads first."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.every import every

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def _links(page: Path) -> list[str]:
    """Return what the links and pictures of a page name, without those that lead out of the tree."""
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    return [to for to in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in to]


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, spelt as GitHub spells them."""
    headings = re.findall(r"^#{1,4} +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@every([(page.name, link) for page in PAGES for link in _links(page)])
def test_a_link_leads_somewhere(name: str, link: str) -> None:
    """Each link of a page names a file of the tree, and where it names a heading, one of that page."""
    page = next(page for page in PAGES if page.name == name)
    file, _, anchor = link.partition("#")
    to = page.parent / file if file else page
    assert to.exists(), to
    assert not anchor or anchor in _anchors(to), f"{to.name} has no heading {anchor}: {sorted(_anchors(to))}"


@every([(page.name, link) for page in PAGES if page.parent.name == "docs" for link in _links(page)])
def test_a_page_links_only_to_what_the_site_has(name: str, link: str) -> None:
    """A page of docs/ links to files below docs/ only: the site that `make docs` builds has no others."""
    assert not link.startswith(".."), f"{name}: {link}"


def test_the_index_has_each_page() -> None:
    """docs/index.md links every page of docs/ once."""
    linked = [link for link in _links(ROOT / "docs" / "index.md") if "/" not in link]
    pages = {path.name for path in (ROOT / "docs").iterdir() if path.suffix in (".md", ".toml")} - {"index.md"}
    assert sorted(linked) == sorted(pages)


@every([("README.md", 120), ("CHANGELOG.md", 100)])
def test_what_everybody_reads_is_short(name: str, most: int) -> None:
    """README and CHANGELOG are read to their end."""
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= most
