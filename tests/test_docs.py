"""The files, modules and classes that documents, docstrings and comments name exist."""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs/glossary.md", *sorted((ROOT / "docs/architecture").glob("*.md"))]
PACKAGES = "agent|contracts|gateway|market_adapter|memory|nexus_cli|runtime|tool_executor"
OF_A_RUN = re.compile(r"DATA/|memory\.(updated\.v1|log)$")
"""Files and names that a running stack makes."""
OF_OTHERS = {
    *("manifest.json", "secrets.json", "stack.json", "widget.js", "paused-results.md"),
    "spec/standard-webhooks.md",
}
"""Files in comments that are made by a command, or belong to another project."""


def tracked() -> set[str]:
    """Every file and folder of the repository."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    folders = {str(parent) for file in listed for parent in Path(file).parents}
    return {*listed, *folders}


def modules(files: set[str]) -> set[str]:
    """Every module, by the name that it is imported by."""
    inside = (file.partition("/src/")[2] for file in files if "/src/" in file)
    return {one.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for one in inside if one}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    files = tracked()
    known = modules(files)
    ends = {file[start:] for file in files for start in [0, *(m.end() for m in re.finditer("/", file))]}
    named = [word for word in re.findall(r"`([^`\s<>…*]+)`", page.read_text()) if OF_A_RUN.match(word) is None]
    paths = {
        word.rstrip("/")
        for word in named
        if re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)+\.(py|toml|js|json|md)|(\w+/)+", word)
    }
    dotted = {word for word in named if re.fullmatch(rf"({PACKAGES})(\.\w+)+", word)}
    assert {path for path in paths if path not in ends} == set()
    assert {name for name in dotted if name not in known and name.rpartition(".")[0] not in known} == set()


def test_what_a_comment_names_is_there() -> None:
    files = tracked()
    ends = {file[start:] for file in files for start in [0, *(m.end() for m in re.finditer("/", file))]} | OF_OTHERS
    sources = {ROOT / file: (ROOT / file).read_text() for file in files if file.endswith(".py")}
    written = {file: [*statements(ast.parse(source))] for file, source in sources.items()}
    classes = {
        f"{module}.{node.name}"
        for file, nodes in written.items()
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for module in [file.parent.name, file.stem]
    }
    known = {class_.partition(".")[0] for class_ in classes}
    missing: list[tuple[str, str]] = []
    for file, source in sources.items():
        for text in told(source, written[file]):
            paths = re.findall(r"(?<![\w./-])(?:[\w-]+/)*[\w-]+\.(?:py|toml|js|md|json)\b(?![\w/])", text)
            names = re.findall(r"(?<![\w./:@-])(?:[a-z_]\w*\.)*([a-z_]\w*\.[A-Z][a-z]\w+)\b(?![.(-])", text)
            missing += [(file.name, path) for path in paths if path not in ends]
            missing += [(file.name, name) for name in names if name.partition(".")[0] in known and name not in classes]
    assert missing == []


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node; of its expressions, which are most of a tree, none is visited."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements(child)


def told(source: str, nodes: Iterable[ast.stmt]) -> Iterator[str]:
    """The comments and docstrings of a module."""
    yield from re.findall(r"(?:^|\s)#\s(.*)$", source, re.MULTILINE)
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
