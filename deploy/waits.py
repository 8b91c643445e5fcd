"""Lists every wait with its limit, out of the code, in docs/architecture/waits.md: `make waits`; `--check`: is it so?

Found are the calls between services with their deadlines, the settings and named constants that limit a wait, a queue
or a retry, the tools' own limits, and what is written in place. A named limit of which nothing is said fails the check.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture/waits.md"
SERVICES = ("gateway", "agent", "tool-executor", "memory", "market-adapter")
PARTS = ("libs/contracts", "libs/runtime", *(f"services/{service}" for service in SERVICES))
LEFT_OUT = re.compile(r"testing|scripted_model|/replay/|/me(asures|trics)\.py")
LIMIT = re.compile(
    r"(^|_)(DEADLINE|TIMEOUT|PATIENCE|PAUSE|SECONDS|WAIT|WAITING|WITHIN|ATTEMPTS?|TRIES|RETRIES|REPEATS|BEAT|SLICE|LEASE"
    r"|LINGER|LOADING|READING|TELLING|AWAY|REST|FAILURES|IN_FLIGHT|CONNECTIONS|AT_ONCE|CONCURRENT|UPLOADS|QUEUED|SPARE|SHARE)($|_)"
)
WORDS = frozenset({"deadline", "timeout", "seconds", "retries", "patience"})
ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda one, other: one / other,
}
USUAL = {
    "ask": ("gateway `adapters/service_calls.py`", "CALL_SECONDS"),
    "call": ("runtime `calls/rpc.py`", "CALL_DEADLINE"),
    "ask_all": ("runtime `calls/rpc.py`", "ASK_ALL_DEADLINE"),
}
"""Ways to call, and the limit where none is given."""
Value = float | tuple[float, ...]


@dataclass(frozen=True)
class Module:
    """One file: its part of the product, its name as the list shows it, and what its names stand for."""

    part: str
    name: str
    tree: ast.Module
    values: dict[str, Value]

    @property
    def stem(self) -> str:
        return self.name.rpartition("/")[2].removesuffix(".py")

    @property
    def where(self) -> str:
        return f"{self.part} `{self.name}`"


def main() -> int:
    """Exit code 1 with `--check`: the page is not what the code says, or a limit has no words."""
    modules = [module for part in PARTS for module in read(part)]
    known = {module.stem: module for module in modules if module.part == "contracts"}
    for module in modules:
        for target, value in assigned(module.tree):
            found = value_of(value, module, known)
            if found is not None:
                module.values[target] = found
    limits, wordless = constants(modules)
    page = "\n\n".join(
        [
            "# Every wait and its limit",
            "Written by `make waits` out of the code, and checked by `make check`. Times are seconds. What a request"
            " may take ends with its caller's deadline, which it carries ([runtime.md](runtime.md)); a part of the work"
            " gets at most 40 % of what is left.",
            "## Calls between services",
            "Each row has a service's calls with one limit; the limits that it uses most come first.",
            table(("caller", "limit", "repeated when silent", "methods"), by_limit(calls(modules, known))),
            "## Settings",
            table(("variable", "default", "what for"), settings(modules)),
            "## Tools",
            "A call gets the least of its tool's limit, its own deadline and what the turn has left.",
            table(("tool", "limit"), tools(modules)),
            "## Named limits",
            *by_module(limits),
            "## Limits written in place, and defaults of arguments",
            table(("where", "in", "limit"), in_place(modules)),
        ]
    )
    for name in wordless:
        sys.stderr.write(f"{name}: say in a docstring what this limit is for\n")
    if "--check" not in sys.argv:
        PAGE.write_text(page + "\n")
        return 0
    if PAGE.read_text() != page + "\n":
        sys.stderr.write(f"{PAGE.relative_to(ROOT)} is not what the code says: run `make waits`\n")
        return 1
    return 1 if wordless else 0


def read(part: str) -> Iterator[Module]:
    """The modules of one package, in order."""
    source = next(one for one in (ROOT / part / "src").iterdir() if one.is_dir() and one.suffix != ".egg-info")
    for path in sorted(source.rglob("*.py")):
        name = str(path.relative_to(source))
        if LEFT_OUT.search(f"/{name}"):
            continue
        yield Module(part.partition("/")[2], name, ast.parse(path.read_text()), {})


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names and values of a module's assignments; of pairs, each by itself."""
    for statement in tree.body:
        for target, value in pairs(statement):
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                both = zip(target.elts, value.elts, strict=True)
                yield from ((one.id, its) for one, its in both if isinstance(one, ast.Name))
            elif isinstance(target, ast.Name):
                yield target.id, value


def pairs(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Target and value of a plain assignment."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield statement.target, statement.value


def value_of(node: ast.expr, module: Module, known: dict[str, Module]) -> Value | None:
    """What an expression of numbers and named numbers comes to; None: it is something else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return module.values.get(name)
        case ast.Attribute(value=ast.Name(id=place), attr=name) if place in known:
            return known[place].values.get(name)
        case ast.Tuple(elts=elements):
            values = [value_of(one, module, known) for one in elements]
            numbers = tuple(one for one in values if isinstance(one, float))
            return numbers if numbers and len(numbers) == len(values) else None
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            one, other = value_of(left, module, known), value_of(right, module, known)
            if isinstance(one, float) and isinstance(other, float):
                return ARITHMETIC[type(op)](one, other)
        case _:
            pass
    return None


def constants(modules: Iterable[Module]) -> tuple[list[tuple[str, ...]], list[str]]:
    """The named limits, and those of which nothing is said."""
    rows: list[tuple[str, ...]] = []
    wordless: list[str] = []
    for module in modules:
        body = module.tree.body
        for statement, after in zip(body, [*body[1:], ast.Pass()], strict=True):
            for name in [name for name, _ in assigned(ast.Module([statement], []))]:
                value = module.values.get(name)
                if value is None or not name.strip("_").isupper() or not LIMIT.search(name):
                    continue
                words = said(after)
                if not words:
                    wordless.append(f"{module.where}: {name}")
                rows.append((module.where, f"`{name}`", shown(value), words))
    return rows, wordless


def said(after: ast.stmt) -> str:
    """The first sentence of the docstring that follows an assignment."""
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        words = " ".join(after.value.value.split())
        return re.split(r"(?<=[^.])\.\s", words)[0].removesuffix(".").replace("|", "\\|")
    return ""


def settings(modules: Iterable[Module]) -> Iterator[tuple[str, ...]]:
    """Settings that are counted in seconds, or that bound how much is done or waits at once."""
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ClassDef) or not any(ast.unparse(base) == "EnvSettings" for base in node.bases):
                continue
            prefix = next(iter(re.findall(r"env_prefix='(\w+)'", ast.unparse(node))), "NEXUS_")
            for target, value in (pair for statement in node.body for pair in pairs(statement)):
                words = {one.arg: one.value for one in getattr(value, "keywords", ())}
                about, default = words.get("description"), words.get("default")
                text = str(about.value) if isinstance(about, ast.Constant) else ""
                number = None if default is None else value_of(default, module, {})
                alias = words.get("validation_alias", words.get("alias"))
                named = re.findall(r"\bNEXUS_\w+", ast.unparse(alias) if alias else "")
                variable = named[0] if named else f"{prefix}{ast.unparse(target).upper()}"
                if number is not None and re.search(r"second|at once|retr|tries", f"{text} {ast.unparse(target)}"):
                    yield (f"`{variable}`", shown(number), text.replace("|", "\\|"))


def calls(modules: list[Module], known: dict[str, Module]) -> list[tuple[str, ...]]:
    """The calls between services, by method and caller."""
    methods: dict[tuple[str, str], tuple[str, bool]] = {}
    for module in known.values():
        for name, value in assigned(module.tree):
            match value:
                case ast.Call(func=ast.Name(id="Rpc"), args=[ast.Constant(value=str(subject)), *_], keywords=words):
                    safe = not any(one.arg == "safe" and ast.unparse(one.value) == "False" for one in words)
                    methods[module.stem, name] = (subject, safe)
                case _:
                    pass
    named = {(one.part, one.stem, name): value for one in modules for name, value in one.values.items()}
    rows: set[tuple[str, ...]] = set()
    for module in modules:
        imported = {
            one.asname or one.name: (node.module.rpartition(".")[2], one.name)
            for node in module.tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for one in node.names
        }
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            how = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            names = [ast.unparse(one) for one in node.args[:2]]
            places = [imported.get(name) or (name.partition(".")[0], name.partition(".")[2]) for name in names]
            found = next((place for place in places if place in methods), None)
            if how not in ("call", "ask", "ask_all") or found is None:
                continue
            subject, safe = methods[found]
            told = {one.arg: one.value for one in node.keywords}
            usual = next(one.values[name] for one in modules for place, name in (USUAL[how],) if one.where == place)
            given = told.get("deadline")
            limit = usual if given is None else value_of(given, module, known)
            if isinstance(given, ast.Name) and given.id in imported:
                limit = named.get((module.part, *imported[given.id]))
            once = how == "ask_all" or not safe
            what = shown(limit) if limit is not None else f"`{ast.unparse(given)}`" if given is not None else ""
            rows.add((module.where, f"`{subject}`", what, "no" if once else "at half of it"))
    return sorted(rows, key=lambda row: (row[1], *row))


def by_limit(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The calls of each service that have the same limit as one row, the largest rows first."""
    methods: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for where, subject, limit, repeated in rows:
        methods[where.partition(" ")[0], limit, repeated].append(subject)
    ordered = sorted(methods.items(), key=lambda one: (one[0][0], -len(one[1]), one[0]))
    return [(*key, ", ".join(dict.fromkeys(found))) for key, found in ordered]


def by_module(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A table of limits for each part of the product; a module is named once, at its first limit."""
    parts: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    before = ""
    for where, *rest in rows:
        part, _, module = where.partition(" ")
        parts[part].append(("" if where == before else module, *rest))
        before = where
    for part, found in parts.items():
        yield f"### {part}"
        yield table(("module", "limit", "value", "what for"), found)


def tools(modules: Iterable[Module]) -> Iterator[tuple[str, ...]]:
    """What each tool may take."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                told = {one.arg: one.value for one in node.keywords}
                name, limit = told.get("name"), number(told.get("time_limit"))
                if limit and isinstance(name, ast.Constant):
                    yield (f"`{name.value}`", shown(limit))


def in_place(modules: Iterable[Module]) -> Iterator[tuple[str, ...]]:
    """Numbers given where somebody waits, without a name of their own."""
    for module in modules:
        for function in ast.walk(module.tree):
            if isinstance(function, ast.ClassDef) and "EnvSettings" not in map(ast.unparse, function.bases):
                fields = [(ast.unparse(target), number(value)) for one in function.body for target, value in pairs(one)]
                limits = [f"{name} = {shown(value)}" for name, value in fields if value and LIMIT.search(name.upper())]
                if limits:
                    yield (module.where, f"`{function.name}`", "; ".join(limits))
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            found: list[str] = []
            arguments = function.args
            wanted = [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
            wanted += [*zip(arguments.args[::-1], arguments.defaults[::-1], strict=False)]
            found += [
                f"{one.arg} = {shown(number(value))}" for one, value in wanted if one.arg in WORDS and number(value)
            ]
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func)
                    told = [one.value for one in node.keywords if one.arg in WORDS]
                    if name in ("asyncio.timeout", "asyncio.wait_for"):
                        told += node.args[-1:]
                    found += [f"{name}: {shown(number(value))}" for value in told if number(value)]
            if found:
                yield (module.where, f"`{function.name}`", "; ".join(dict.fromkeys(found)))


def number(node: ast.expr | None) -> float:
    """A number as it is written; 0: there is none."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case _:
            return 0.0


def shown(value: Value) -> str:
    """A number without an end of zeros."""
    return ", ".join(f"{one:g}" for one in value) if isinstance(value, tuple) else f"{value:,.6g}"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
