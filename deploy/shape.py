"""Prints figures about the code: `make shape`; `--list` names what is counted.

The Python that runs in production is counted: everything under `src` of libs, services and the CLI, apart from modules
for tests. A class counts as an implementation of a Protocol if it has all its names, whatever it declares.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOR_TESTS = re.compile(r"(^|/)testing(/|_|\.)|/scripted_model")
GERUND = re.compile(r"(^|_)[a-z]{2,}ing$")
NOUNS = frozenset({"logging", "rating", "setting", "spring", "string", "thing"})
"""Words that end in -ing and are nouns of the field."""
VAGUE = frozenset({"asked", "found", "given", "held", "kept", "left", "meant", "mine", "one", "said", "seen", "told"})
"""Names of variables, parameters and fields that do not say what they hold."""
KINDS = ("code", "fields", "tables", "imports", "prose", "blank")
"""Kinds of lines: in a function, in a class's fields, in a module's constants, an import, a docstring or comment,
empty."""
OWN_PULL, JETSTREAM_PULL = "CONSUMER.MSG.NEXT", "pull_subscribe"
"""Texts that show how a module pulls from a durable consumer: with its own requests, or with nats-py's."""


@dataclass(frozen=True)
class Module:
    """One file: its path, its import name, its text and its syntax tree."""

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
        """Every class in the file."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]


def main() -> int:
    """Prints the table; returns exit code 0."""
    modules = list(_modules())
    product = [module for module in modules if not module.for_tests]
    lines = sum(len(module.text.splitlines()) for module in product)
    protocols = implementations(modules)
    single = {name: classes for name, classes in protocols.items() if len(classes[0]) == 1}
    anys = sum(isinstance(node, ast.Name) and node.id == "Any" for module in product for node in ast.walk(module.tree))
    gerunds = sorted(module.path for module in product if _is_gerund(Path(module.path).stem))
    folders = sorted({str(Path(module.path).parent) for module in product if _is_gerund(Path(module.path).parent.name)})
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in product:
        for class_node in module.classes:
            places[class_node.name].append(module.path)
    repeated = {name: classes for name, classes in places.items() if len(classes) > 1}
    known = {module.name for module in product}
    circle = cycle_of({module.name: imports_of(module, known) for module in product})
    ways = ways_to_consume(product)
    models = model_names(product)
    vague = [f"{module.path}: {name}" for module in product for name in variables(module.tree, models) if name in VAGUE]
    table: list[tuple[str, object, list[str]]] = [
        ("lines of production Python", lines, areas(product)),
        ("Protocols", len(protocols), sorted(protocols)),
        (
            "… with one implementation",
            len(single),
            [f"{name}: {classes[0][0]}" for name, classes in single.items()],
        ),
        ("… and with no other in tests", sum(not classes[1] for classes in single.values()), []),
        ("`Any` per 1,000 lines", round(anys * 1000 / lines, 1), []),
        ("modules named by a gerund", len(gerunds), gerunds),
        ("folders named by a gerund", len(folders), folders),
        (
            "class names used twice or more",
            len(repeated),
            [f"{name}: {', '.join(paths)}" for name, paths in repeated.items()],
        ),
        ("variables whose name says nothing", len(vague), sorted(vague)),
        ("modules in an import cycle", len(circle), circle),
        ("ways to consume", len(ways), ways),
    ]
    for label, count, names in table:
        print(f"{label:42} {count:>8}")
        if "--list" in sys.argv:
            print("".join(f"    {name}\n" for name in names), end="")
    return 0


def variables(tree: ast.AST, models: set[str]) -> Iterator[str]:
    """Yields the name of each parameter and field, and of a variable at each place where it is set; without the fields
    of `models`, which documents on the wire or in a store name."""
    wire_fields = {
        id(field.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name in models
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in wire_fields:
            yield node.id


def model_names(modules: list[Module]) -> set[str]:
    """Returns the names of pydantic's BaseModel and of every class that derives from it."""
    bases = {
        class_node.name: {ast.unparse(base).rpartition(".")[2] for base in class_node.bases}
        for module in modules
        for class_node in module.classes
    }
    models = {"BaseModel"}
    while derived := {name for name, names in bases.items() if names & models} - models:
        models |= derived
    return models


def areas(modules: list[Module]) -> list[str]:
    """Returns the lines by area, the largest first, with how many of them are of each kind."""
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for module in modules:
        lines = Counter(kinds(module))
        parts = module.name.split(".")
        for area in ("all", parts[0], *([".".join(parts[:3])] if parts[0] == "agent" and len(parts) > 3 else [])):
            counted[area].update(lines)
    head = f"{'':26}{'all':>8}" + "".join(f"{kind:>12}" for kind in KINDS)
    rows = sorted(counted.items(), key=lambda item: -item[1].total())
    return [
        head,
        *(f"{area:26}{counts.total():>8}" + "".join(f"{counts[kind]:>12}" for kind in KINDS) for area, counts in rows),
    ]


def kinds(module: Module) -> list[str]:
    """Returns the kind of each line. A table is a constant of a module: vocabulary, patterns, texts, limits,
    declarations."""
    lines = module.text.splitlines()
    line_kinds = [
        "blank" if not line.strip() else "prose" if line.lstrip().startswith("#") else "code" for line in lines
    ]

    def mark(node: ast.AST, kind: str) -> None:
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 0)
        for number in range(first - 1, last):
            line_kinds[number] = kind if line_kinds[number] == "code" or kind == "prose" else line_kinds[number]

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
    return line_kinds


def implementations(modules: list[Module]) -> dict[str, tuple[list[str], list[str]]]:
    """Returns for each Protocol in production the classes that have all its names, in production and in tests."""
    classes = [(module, class_node) for module in modules for class_node in module.classes]
    by_name: defaultdict[str, list[ast.ClassDef]] = defaultdict(list)
    for _, class_node in classes:
        by_name[class_node.name].append(class_node)
    names = {id(class_node): _names(class_node, by_name) for _, class_node in classes}
    result: dict[str, tuple[list[str], list[str]]] = {}
    for module, protocol in classes:
        if module.for_tests or not _is_protocol(protocol):
            continue
        protocol_names = names[id(protocol)]
        matches = [
            (owner, class_node)
            for owner, class_node in classes
            if not _is_protocol(class_node) and protocol_names <= names[id(class_node)]
        ]
        product = [f"{owner.path} {class_node.name}" for owner, class_node in matches if not owner.for_tests]
        tests = [f"{owner.path} {class_node.name}" for owner, class_node in matches if owner.for_tests]
        result[f"{module.path} {protocol.name}"] = (product, tests)
    return result


def imports_of(module: Module, known: set[str]) -> set[str]:
    """Returns the repository's modules that this one imports when it is imported itself."""
    imported: set[str] = set()
    for node in _at_import(module.tree.body):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif node.module is not None:
            imported |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return (imported & known) - {module.name}


def cycle_of(graph: Mapping[str, set[str]]) -> list[str]:
    """Returns modules that import each other in a circle; empty if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def ways_to_consume(modules: list[Module]) -> list[str]:
    """Returns files that pull from durable consumers in their own loop, or with a library."""
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
    """Yields imports that run with the module: not those inside functions, nor those for the type checker only."""
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


def _is_protocol(class_node: ast.ClassDef) -> bool:
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in class_node.bases]
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases)


def _is_gerund(name: str) -> bool:
    return GERUND.search(name) is not None and name.rpartition("_")[2] not in NOUNS


def _names(class_node: ast.ClassDef, by_name: Mapping[str, list[ast.ClassDef]], depth: int = 0) -> set[str]:
    """Returns the public names of a class, including its bases'."""
    names: set[str] = set()
    for node in class_node.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    names.add(inner.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for base in class_node.bases:
        base_name = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(base_name, ast.Name) and depth < 5:
            for base_class in by_name.get(base_name.id, ()):
                names |= _names(base_class, by_name, depth + 1)
    return {name for name in names if not name.startswith("_") or name == "__call__"}


if __name__ == "__main__":
    raise SystemExit(main())
