"""The registry of tools: checked once at start-up, then looked up by name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contracts.ids import is_id
from tool_executor.adapters.json_schema import CompiledSchema
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.limits import Limits, limits_of
from tool_executor.domain.nulls import with_nullable_arguments
from tool_executor.domain.plans import CompanyTools, Plan, VerifiedCaller, plan_named
from tool_executor.ports import SchemaBrokenError

MAX_DESCRIPTION_CHARS = 1024
"""Characters of a description that OpenAI-compatible models accept; they refuse requests with a longer one."""


class CatalogueError(Exception):
    """A declaration is wrong; the message names the tool and what to change."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool that passed every check, with its compiled schemas."""

    tool: DeclaredTool
    plan: Plan
    category: Category
    limits: Limits
    parameters: dict[str, Any]
    """The input schema as callers see it."""
    input: CompiledSchema
    output: CompiledSchema

    def visible_to(self, caller: VerifiedCaller, company: CompanyTools) -> bool:
        """Whether the tool exists for this caller, apart from their plan."""
        rule, switched = self.tool.offered, company.switched(self.category.value, caller)
        if switched is False or (rule is not None and not rule(company)):
            return False
        if not caller.is_visitor or self.tool.for_visitors:
            return True
        if not self.tool.offered_to_visitors:
            return False
        return self.plan is Plan.FREE and (switched is True or self.tool.name in company.config.enabled_tools)

    def needs_settings(self, caller: VerifiedCaller) -> bool:
        """Whether the tool exists for this caller only if the company's settings say so."""
        return caller.is_visitor or self.tool.offered is not None


class Registry:
    """All tools by name, in the catalogue's order."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_name = {entry.tool.name: entry for entry in entries}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def find(self, name: str) -> Entry | None:
        return self._by_name.get(name)

    def for_plan(self, plan: Plan) -> list[Entry]:
        return [entry for entry in self if entry.plan <= plan]

    def offered_to(self, caller: VerifiedCaller, company: CompanyTools) -> list[Entry]:
        """Returns the tools that this caller may call now."""
        return [entry for entry in self.for_plan(caller.effective_plan) if entry.visible_to(caller, company)]


def build_registry(tools: Iterable[DeclaredTool]) -> Registry:
    """Checks all declarations and returns the registry.

    Raises:
        CatalogueError: a second tool with the same id or name, an unknown plan or category, a schema that does not
            compile, a handler that does not exist.
    """
    entries: list[Entry] = []
    ids: set[str] = set()
    names: set[str] = set()
    for tool in tools:
        entry = check(tool)
        for kind, value, used in (("id", tool.id, ids), ("name", tool.name, names)):
            if value in used:
                raise CatalogueError(f"tool {tool.id}: another tool has the {kind} {value!r}; choose a new one")
            used.add(value)
        entries.append(entry)
    return Registry(entries)


def check(tool: DeclaredTool) -> Entry:
    """Checks and compiles one declaration. Raises CatalogueError."""
    if not is_id(tool.name):
        raise CatalogueError(f"tool {tool.id}: the name {tool.name!r} is not 1 to 64 of A-Z a-z 0-9 _ -")
    plan = plan_named(tool.required_plan)
    if plan is None:
        raise CatalogueError(f"tool {tool.id}: there is no plan {tool.required_plan!r}; use free, pro or premium")
    try:
        category = Category(tool.category)
    except ValueError:
        known = ", ".join(Category)
        raise CatalogueError(f"tool {tool.id}: there is no category {tool.category!r}; use one of {known}") from None
    for role, handler in (("handler", tool.handler), ("reconcile", tool.reconcile or OverTheBus())):
        if not isinstance(handler, OverTheBus) and not callable(handler):
            raise CatalogueError(f"tool {tool.id}: its {role} does not exist; give a function, or OverTheBus()")
    if tool.input_schema.get("additionalProperties") is not False:
        raise CatalogueError(f"tool {tool.id}: the input schema must say additionalProperties: false")
    if max(map(len, tool.description.by_language.values())) > MAX_DESCRIPTION_CHARS:
        raise CatalogueError(f"tool {tool.id}: a description has more than {MAX_DESCRIPTION_CHARS} characters")
    counts = (tool.per_minute, tool.per_hour, tool.per_day)
    if any(count is not None and count < 1 for count in counts) or tool.time_limit <= 0:
        raise CatalogueError(f"tool {tool.id}: limits and time limit must be above 0")
    return Entry(
        tool=tool,
        plan=plan,
        category=category,
        limits=limits_of(*counts),
        parameters=with_nullable_arguments(tool.input_schema),
        input=_compiled(tool, "input", tool.input_schema),
        output=_compiled(tool, "output", tool.output_schema),
    )


def _compiled(tool: DeclaredTool, which: str, schema: Mapping[str, Any]) -> CompiledSchema:
    try:
        return CompiledSchema(schema)
    except SchemaBrokenError as broken:
        raise CatalogueError(f"tool {tool.id}: its {which} schema does not compile: {broken}") from broken
