"""Hooks of MkDocs (mkdocs.yml): pages outside of include/docs join the site, and links lead to pages of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from sluice import paths

DOCS = "include/docs"
# By their paths in the project, pages of the site whose files are not in include/docs.
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "sql/README.md": "sql.md",
}
_DECISIONS = "adr/index.md"
_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def slug(title: str, separator: str = "-") -> str:
    """The anchor of a title, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", separator)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not in include/docs, and one that lists the decisions."""
    for path, uri in ELSEWHERE.items():
        files.append(File.generated(config, uri, abs_src_path=str(paths.PROJECT / path)))
    records = sorted(Path(config.docs_dir).glob("adr/0*.md"))
    lines = [f"- [{_title(record)}]({record.name})" for record in records]
    files.append(File.generated(config, _DECISIONS, content="\n".join(["# Decisions", "", *lines, ""])))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site; a link to any other file of the project becomes its text."""
    outside = {uri: path for path, uri in ELSEWHERE.items()}
    here = outside.get(page.file.src_uri, f"{DOCS}/{page.file.src_uri}")
    parts = _FENCED.split(markdown)
    # Every second one is a block of code.
    parts[::2] = [_plain_pipes(_LINK.sub(_relinker(here, page, files), part)) for part in parts[::2]]
    return "".join(parts)


def _relinker(here: str, page: Page, files: Files) -> Callable[[re.Match[str]], str]:
    folder, site_folder = posixpath.dirname(here), posixpath.dirname(page.file.src_uri)

    def relink(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or not path:
            return match[0]
        project_path = posixpath.normpath(posixpath.join(folder, path))
        uri = ELSEWHERE.get(project_path, project_path.removeprefix(f"{DOCS}/"))
        file = files.get_file_from_path(uri) or files.get_file_from_path(f"{uri}/index.md")
        if file is None:
            # MkDocs warns of a link to a file that is nowhere.
            return text if (paths.PROJECT / project_path).exists() else match[0]
        return f"{picture}[{text}]({posixpath.relpath(file.src_uri, site_folder or '.')}{hash_sign}{anchor})"

    return relink


def _plain_pipes(markdown: str) -> str:
    """GitHub wants a backslash before a pipe in a table's code; Python-Markdown would show it."""
    return _CODE.sub(lambda match: match[0].replace(r"\|", "|"), markdown)


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
