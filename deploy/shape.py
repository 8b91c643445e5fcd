"""Prints what the tree's shape is, out of the code alone: `make shape`; `--list` names what is counted.

Counted is the Python that runs in production: what is under `src` of libs, services and the CLI, without what is there
for tests. A class implements a Protocol here when it has all its names, whatever it says of itself.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOR_TESTS = re.compile(r"(^|/)testing(/|_|\.)|/scripted_model")
GERUND = re.compile(r"(^|_)[a-z]{2,}ing$")
NOUNS = frozenset({"logging", "rating", "setting", "spring", "string", "thing"})
"""Words that end so and are nouns of the field."""
KINDS = ("code", "fields", "tables", "imports", "prose", "blank")
"""What a line is: of a function, of a class's fields, a module's constant, an import, a docstring or comment, empty."""
OWN_PULL, JETSTREAM_PULL = "CONSUMER.MSG.NEXT", "pull_subscribe"
"""Ways to take from a durable consumer: requests of one's own, nats-py's."""


@dataclass(frozen=True)
class Module:
    """One file: where it is, its name to import it by, its text, and what is in it."""

    path: str
    name: str
    text: str
    tree: ast.Module

    @property
    def for_tests(self) -> bool:
        """Whether only tests use it."""
        return FOR_TESTS.search(self.path) is not None or "/src/" not in self.path

    @property
    def classes(self) -> list[ast.ClassDef]:
        """Every class in it."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]


def main() -> int:
    """Exit code 0."""
    modules = list(_modules())
    product = [module for module in modules if not module.for_tests]
    lines = sum(len(module.text.splitlines()) for module in product)
    protocols = implementations(modules)
    one = {name: found for name, found in protocols.items() if len(found[0]) == 1}
    anys = sum(isinstance(node, ast.Name) and node.id == "Any" for module in product for node in ast.walk(module.tree))
    gerunds = sorted(module.path for module in product if _is_gerund(Path(module.path).stem))
    folders = sorted({str(Path(module.path).parent) for module in product if _is_gerund(Path(module.path).parent.name)})
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in product:
        for each in module.classes:
            places[each.name].append(module.path)
    twice = {name: found for name, found in places.items() if len(found) > 1}
    circles = cycles({module.name: imports_of(module, {one.name for one in product}) for module in product})
    ways = ways_to_consume(product)
    table: list[tuple[str, object, list[str]]] = [
        ("lines of production Python", lines, areas(product)),
        ("Protocols", len(protocols), sorted(protocols)),
        ("… with one implementation", len(one), [f"{name}: {found[0][0]}" for name, found in one.items()]),
        ("… and with no other in tests", sum(not found[1] for found in one.values()), []),
        ("`Any` per 1,000 lines", round(anys * 1000 / lines, 1), []),
        ("modules named by a gerund", len(gerunds), gerunds),
        ("folders named by a gerund", len(folders), folders),
        ("class names used twice or more", len(twice), [f"{name}: {', '.join(at)}" for name, at in twice.items()]),
        ("import cycles", len(circles), [" → ".join(circle) for circle in circles]),
        ("ways to consume", len(ways), ways),
    ]
    for what, count, names in table:
        print(f"{what:42} {count:>8}")
        if "--list" in sys.argv:
            print("".join(f"    {name}\n" for name in names), end="")
    return 0


def areas(modules: list[Module]) -> list[str]:
    """Lines by area, the largest first, and how many of them are of each kind."""
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for module in modules:
        lines = Counter(kinds(module))
        parts = module.name.split(".")
        for area in ("all", parts[0], *([".".join(parts[:3])] if parts[0] == "agent" and len(parts) > 3 else [])):
            counted[area].update(lines)
    head = f"{'':26}{'all':>8}" + "".join(f"{kind:>12}" for kind in KINDS)
    rows = sorted(counted.items(), key=lambda item: -item[1].total())
    return [head, *(f"{area:26}{of.total():>8}" + "".join(f"{of[kind]:>12}" for kind in KINDS) for area, of in rows)]


def kinds(module: Module) -> list[str]:
    """The kind of each line. A table is a constant of a module: vocabulary, patterns, texts, limits, declarations."""
    lines = module.text.splitlines()
    found = ["blank" if not line.strip() else "prose" if line.lstrip().startswith("#") else "code" for line in lines]

    def mark(node: ast.AST, kind: str) -> None:
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 0)
        for number in range(first - 1, last):
            found[number] = kind if found[number] == "code" or kind == "prose" else found[number]

    for node in ast.walk(module.tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                mark(node, "prose")
            case ast.Import() | ast.ImportFrom():
                mark(node, "imports")
            case ast.ClassDef():
                for field in node.body:
                    if isinstance(field, ast.AnnAssign | ast.Assign):
                        mark(field, "fields")
            case ast.Module():
                for statement in node.body:
                    if isinstance(statement, ast.AnnAssign | ast.Assign):
                        mark(statement, "tables")
            case _:
                pass
    return found


def implementations(modules: list[Module]) -> dict[str, tuple[list[str], list[str]]]:
    """By Protocol of production: the classes that have all its names, in production and in tests."""
    classes = [(module, each) for module in modules for each in module.classes]
    by_name: defaultdict[str, list[ast.ClassDef]] = defaultdict(list)
    for _, each in classes:
        by_name[each.name].append(each)
    names = {id(each): _names(each, by_name) for _, each in classes}
    found: dict[str, tuple[list[str], list[str]]] = {}
    for module, protocol in classes:
        if module.for_tests or not _is_protocol(protocol):
            continue
        wanted = names[id(protocol)]
        have = [(at, each) for at, each in classes if not _is_protocol(each) and wanted <= names[id(each)]]
        product = [f"{at.path} {each.name}" for at, each in have if not at.for_tests]
        tests = [f"{at.path} {each.name}" for at, each in have if at.for_tests]
        found[f"{module.path} {protocol.name}"] = (product, tests)
    return found


def imports_of(module: Module, known: set[str]) -> set[str]:
    """The tree's own modules that this one imports when it is imported itself."""
    found: set[str] = set()
    for node in _at_import(module.tree.body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module is not None:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return (found & known) - {module.name}


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
            if other in stack:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == number[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.append(circle)

    sys.setrecursionlimit(10_000)
    for name in graph:
        if name not in number:
            visit(name)
    return found


def ways_to_consume(modules: list[Module]) -> list[str]:
    """Files that take from durable consumers by a loop of their own, or hand it to a library."""
    ways: list[str] = []
    for module in modules:
        calls = [node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
        called = {func.attr for func in calls if isinstance(func, ast.Attribute)}
        texts = [node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant)]
        if any(isinstance(text, str) and OWN_PULL in text for text in texts):
            ways.append(f"{module.path}: requests of its own")
        if JETSTREAM_PULL in called:
            ways.append(f"{module.path}: nats-py's pull_subscribe")
    return ways


def _modules() -> Iterator[Module]:
    for folder in ("libs", "services", "cli", "tests"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = str(file.relative_to(ROOT))
            if "node_modules" in path or file.is_symlink():
                continue
            text = file.read_text()
            inside = path.partition("/src/")[2] or path
            name = inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            yield Module(path, name, text, ast.parse(text))


def _at_import(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run with the module: not those inside functions, nor those for the type checker alone."""
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield node
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.If() | ast.Try():
                yield from _at_import([*node.body, *node.orelse])
            case _:
                pass


def _is_protocol(each: ast.ClassDef) -> bool:
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in each.bases]
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases)


def _is_gerund(name: str) -> bool:
    return GERUND.search(name) is not None and name.rpartition("_")[2] not in NOUNS


def _names(each: ast.ClassDef, by_name: Mapping[str, list[ast.ClassDef]], depth: int = 0) -> set[str]:
    """The public names that a class has, its bases' among them."""
    found: set[str] = set()
    for node in each.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    found.add(inner.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for base in each.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(plain, ast.Name) and depth < 5:
            for one in by_name.get(plain.id, ()):
                found |= _names(one, by_name, depth + 1)
    return {name for name in found if not name.startswith("_") or name == "__call__"}


if __name__ == "__main__":
    raise SystemExit(main())
