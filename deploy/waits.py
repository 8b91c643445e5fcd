"""Lists every wait with its limit, from the code, in docs/architecture/waits.md: `make waits`; `--check`: compares.

It finds the calls between services with their deadlines, the settings and named constants that limit a wait, a queue
or a retry, the tools' own limits, and limits written in place. A named limit without a docstring fails the check.
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

from tool_executor.catalogue.all_tools import all_tools

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture/waits.md"
SERVICES = ("gateway", "agent", "tool-executor", "memory", "market-adapter")
PARTS = ("libs/contracts", "libs/runtime", *(f"services/{service}" for service in SERVICES))
EXCLUDED = re.compile(r"testing|scripted_model|/replay/|/site/|/me(asures|trics)\.py")
LIMIT = re.compile(
    r"(^|_)(DEADLINE|TIMEOUT|PATIENCE|PAUSE|SECONDS|WAIT|WAITING|WITHIN|ATTEMPTS?|TRIES|RETRIES|REPEATS|BEAT|SLICE|LEASE"
    r"|LINGER|LOADING|READING|TELLING|AWAY|REST|FAILURES|IN_FLIGHT|CONNECTIONS|AT_ONCE|CONCURRENCY|CONCURRENT|UPLOADS|QUEUED|SPARE|SHARE|INTERVAL)($|_)"
)
LIMIT_KEYWORDS = frozenset({"deadline", "timeout", "seconds", "retries", "patience"})
ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
DEFAULT_LIMITS = {
    "ask": ("gateway `adapters/service_calls.py`", "CALL_SECONDS"),
    "call": ("runtime `calls/rpc.py`", "CALL_DEADLINE"),
    "ask_all": ("runtime `calls/rpc.py`", "ASK_ALL_DEADLINE"),
}
"""Functions that make calls, and the limit if the call gives none."""
Value = float | tuple[float, ...]


@dataclass(frozen=True)
class Module:
    """One file: its part of the product, its name in the list, its syntax tree, and the values of its constants."""

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
    """Writes the page. With `--check`, returns exit code 1 if the page differs from the code, or a limit has no
    docstring."""
    modules = [module for part in PARTS for module in read(part)]
    known = {module.stem: module for module in modules if module.part == "contracts"}
    for module in modules:
        for target, value in assigned(module.tree):
            number = value_of(value, module, known)
            if number is not None:
                module.values[target] = number
    limits, undocumented = constants(modules)
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
            table(("tool", "limit"), tools()),
            "## Named limits",
            *by_module(limits),
            "## Limits written in place, and defaults of arguments",
            table(("where", "in", "limit"), in_place(modules)),
        ]
    )
    for name in undocumented:
        sys.stderr.write(f"{name}: say in a docstring what this limit is for\n")
    if "--check" not in sys.argv:
        PAGE.write_text(page + "\n")
        return 0
    if PAGE.read_text() != page + "\n":
        sys.stderr.write(f"{PAGE.relative_to(ROOT)} is not what the code says: run `make waits`\n")
        return 1
    return 1 if undocumented else 0


def read(part: str) -> Iterator[Module]:
    """Yields the modules of one package, in order."""
    source = next(entry for entry in (ROOT / part / "src").iterdir() if entry.is_dir() and entry.suffix != ".egg-info")
    for path in sorted(source.rglob("*.py")):
        name = str(path.relative_to(source))
        if EXCLUDED.search(f"/{name}"):
            continue
        yield Module(part.partition("/")[2], name, ast.parse(path.read_text()), {})


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yields names and values of a module's assignments; those of a tuple one by one."""
    for statement in tree.body:
        for target, value in pairs(statement):
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                assignments = zip(target.elts, value.elts, strict=True)
                yield from ((name.id, part) for name, part in assignments if isinstance(name, ast.Name))
            elif isinstance(target, ast.Name):
                yield target.id, value


def pairs(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields target and value of a plain assignment."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield statement.target, statement.value


def value_of(node: ast.expr, module: Module, known: dict[str, Module]) -> Value | None:
    """Returns the value of an expression of numbers and named numbers; None if it is anything else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return module.values.get(name)
        case ast.Attribute(value=ast.Name(id=module_name), attr=name) if module_name in known:
            return known[module_name].values.get(name)
        case ast.Tuple(elts=elements):
            values = [value_of(element, module, known) for element in elements]
            numbers = tuple(value for value in values if isinstance(value, float))
            return numbers if numbers and len(numbers) == len(values) else None
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            left_value, right_value = value_of(left, module, known), value_of(right, module, known)
            if isinstance(left_value, float) and isinstance(right_value, float):
                return ARITHMETIC[type(op)](left_value, right_value)
        case _:
            pass
    return None


def constants(modules: Iterable[Module]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Returns the named limits, and those without a docstring."""
    rows: list[tuple[str, ...]] = []
    undocumented: list[str] = []
    for module in modules:
        body = module.tree.body
        for statement, after in zip(body, [*body[1:], ast.Pass()], strict=True):
            for name in [name for name, _ in assigned(ast.Module([statement], []))]:
                value = module.values.get(name)
                if value is None or not name.strip("_").isupper() or not LIMIT.search(name):
                    continue
                description = first_sentence(after)
                if not description:
                    undocumented.append(f"{module.where}: {name}")
                rows.append((module.where, f"`{name}`", shown(value), description))
    return rows, undocumented


def first_sentence(after: ast.stmt) -> str:
    """Returns the first sentence of the docstring after an assignment."""
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        text = " ".join(after.value.value.split())
        return re.split(r"(?<=[^.])\.\s", text)[0].removesuffix(".").replace("|", "\\|")
    return ""


def settings(modules: Iterable[Module]) -> Iterator[tuple[str, ...]]:
    """Yields settings in seconds, and settings that limit how much is done or waits at once."""
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ClassDef) or not any(ast.unparse(base) == "EnvSettings" for base in node.bases):
                continue
            prefix = next(iter(re.findall(r"env_prefix='(\w+)'", ast.unparse(node))), "NEXUS_")
            for target, value in (pair for statement in node.body for pair in pairs(statement)):
                keywords = {keyword.arg: keyword.value for keyword in getattr(value, "keywords", ())}
                description, default = keywords.get("description"), keywords.get("default")
                text = str(description.value) if isinstance(description, ast.Constant) else ""
                number = None if default is None else value_of(default, module, {})
                alias = keywords.get("validation_alias", keywords.get("alias"))
                aliases = re.findall(r"\bNEXUS_\w+", ast.unparse(alias) if alias else "")
                variable = aliases[0] if aliases else f"{prefix}{ast.unparse(target).upper()}"
                if number is not None and re.search(r"second|at once|retr|tries", f"{text} {ast.unparse(target)}"):
                    yield (f"`{variable}`", shown(number), text.replace("|", "\\|"))


def calls(modules: list[Module], known: dict[str, Module]) -> list[tuple[str, ...]]:
    """Returns the calls between services, by method and caller."""
    methods: dict[tuple[str, str], tuple[str, bool]] = {}
    for module in known.values():
        for name, value in assigned(module.tree):
            match value:
                case ast.Call(func=ast.Name(id="Rpc"), args=[ast.Constant(value=str(subject)), *_], keywords=words):
                    safe = not any(word.arg == "safe" and ast.unparse(word.value) == "False" for word in words)
                    methods[module.stem, name] = (subject, safe)
                case _:
                    pass
    limits = {(module.part, module.stem, name): value for module in modules for name, value in module.values.items()}
    rows: set[tuple[str, ...]] = set()
    for module in modules:
        imported = {
            name.asname or name.name: (node.module.rpartition(".")[2], name.name)
            for node in module.tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for name in node.names
        }
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            function_name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            names = [ast.unparse(arg) for arg in node.args[:2]]
            places = [imported.get(name) or (name.partition(".")[0], name.partition(".")[2]) for name in names]
            method = next((place for place in places if place in methods), None)
            if function_name not in ("call", "ask", "ask_all") or method is None:
                continue
            subject, safe = methods[method]
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            default_limit = next(
                module.values[name]
                for module in modules
                for place, name in (DEFAULT_LIMITS[function_name],)
                if module.where == place
            )
            deadline = keywords.get("deadline")
            limit = default_limit if deadline is None else value_of(deadline, module, known)
            if isinstance(deadline, ast.Name) and deadline.id in imported:
                limit = limits.get((module.part, *imported[deadline.id]))
            is_sent_once = function_name == "ask_all" or not safe
            limit_text = (
                shown(limit) if limit is not None else f"`{ast.unparse(deadline)}`" if deadline is not None else ""
            )
            rows.add((module.where, f"`{subject}`", limit_text, "no" if is_sent_once else "at half of it"))
    return sorted(rows, key=lambda row: (row[1], *row))


def by_limit(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Combines calls of a service that have the same limit into one row, the largest rows first."""
    methods: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for where, subject, limit, repeated in rows:
        methods[where.partition(" ")[0], limit, repeated].append(subject)
    ordered = sorted(methods.items(), key=lambda row: (row[0][0], -len(row[1]), row[0]))
    return [(*key, ", ".join(dict.fromkeys(subjects))) for key, subjects in ordered]


def by_module(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yields a table of limits for each part of the product; a module is named once, at its first limit."""
    parts: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    previous = ""
    for where, *columns in rows:
        part, _, module = where.partition(" ")
        parts[part].append(("" if where == previous else module, *columns))
        previous = where
    for part, module_rows in parts.items():
        yield f"### {part}"
        yield table(("module", "limit", "value", "what for"), module_rows)


def tools() -> Iterator[tuple[str, ...]]:
    """Yields each tool's time limit, in the catalogue's order."""
    for tool in all_tools(None):  # pyright: ignore[reportArgumentType] - no page is read
        yield (f"`{tool.name}`", shown(tool.time_limit))


def in_place(modules: Iterable[Module]) -> Iterator[tuple[str, ...]]:
    """Yields limits that are written in place, without a name of their own."""
    for module in modules:
        for function in ast.walk(module.tree):
            if isinstance(function, ast.ClassDef) and "EnvSettings" not in map(ast.unparse, function.bases):
                fields = [
                    (ast.unparse(target), number(value))
                    for statement in function.body
                    for target, value in pairs(statement)
                ]
                limits = [f"{name} = {shown(value)}" for name, value in fields if value and LIMIT.search(name.upper())]
                if limits:
                    yield (module.where, f"`{function.name}`", "; ".join(limits))
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            limits_found: list[str] = []
            arguments = function.args
            defaults = [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
            defaults += [*zip(arguments.args[::-1], arguments.defaults[::-1], strict=False)]
            limits_found += [
                f"{statement.arg} = {shown(number(value))}"
                for statement, value in defaults
                if statement.arg in LIMIT_KEYWORDS and number(value)
            ]
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func)
                    values = [statement.value for statement in node.keywords if statement.arg in LIMIT_KEYWORDS]
                    if name in ("asyncio.timeout", "asyncio.wait_for"):
                        values += node.args[-1:]
                    limits_found += [f"{name}: {shown(number(value))}" for value in values if number(value)]
            if limits_found:
                yield (module.where, f"`{function.name}`", "; ".join(dict.fromkeys(limits_found)))


def number(node: ast.expr | None) -> float:
    """Returns a literal number; 0 if the node is none."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case _:
            return 0.0


def shown(value: Value) -> str:
    """Formats a number without trailing zeros."""
    return ", ".join(f"{number:g}" for number in value) if isinstance(value, tuple) else f"{value:,.6g}"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a table in Markdown."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
