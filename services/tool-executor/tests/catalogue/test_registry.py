"""Declarations are checked at start-up; a wrong one stops the service with a clear line."""

from typing import Any

import jsonschema_rs
import pytest

from contracts.company import Categories, ToolConfig
from contracts.text import Text
from tool_executor.adapters.json_schema import CompiledSchema
from tool_executor.adapters.page_fetcher import PageFetcher
from tool_executor.adapters.site_pages import SitePages
from tool_executor.catalogue.all_tools import all_tools
from tool_executor.catalogue.export import catalogue_view
from tool_executor.catalogue.registry import CatalogueError, Registry, build_registry
from tool_executor.domain.declaration import CallContext, Category, Data, OverTheBus, ToolRefusedError
from tool_executor.domain.defaults import with_defaults
from tool_executor.domain.plans import Arguments, CompanyTools, Plan, VerifiedCaller
from tool_executor.ports import SchemaBrokenError
from tool_executor.testing.harness import NOTHING, CountingHandler, tool_named


@pytest.fixture
async def registry():
    fetcher = PageFetcher()
    yield build_registry(all_tools(SitePages(fetcher, demo=None, budget=100).read))
    await fetcher.close()


def some(**declared: Any) -> Registry:
    return build_registry([tool_named("some", **({"handler": CountingHandler()} | declared))])


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"required_plan": "gold"}, "no plan 'gold'"),
        ({"category": "fun"}, "no category 'fun'"),
        ({"handler": None}, "handler does not exist"),
        ({"handler": "get_price"}, "handler does not exist"),
        ({"reconcile": 3}, "reconcile does not exist"),
        ({"input_schema": NOTHING | {"type": "nonsense"}}, "input schema does not compile"),
        ({"output_schema": {"$ref": "https://example.com/schema"}}, "output schema does not compile"),
        ({"output_schema": {"$ref": "#/$defs/missing"}}, "output schema does not compile"),
        ({"output_schema": {"pattern": "("}}, "output schema does not compile"),
        ({"input_schema": {"type": "object"}}, "additionalProperties"),
        ({"per_minute": 0}, "above 0"),
        ({"time_limit": 0}, "above 0"),
        ({"description": Text(es="x" * 1025, en="x")}, "more than 1024 characters"),
    ],
)
def test_a_wrong_declaration_names_the_tool_and_what_to_change(declared: dict[str, Any], says: str):
    with pytest.raises(CatalogueError, match=says) as error:
        some(**declared)
    assert str(error.value).startswith("tool test.some: ")


def test_names_and_ids_are_unique():
    tools = [tool_named("a", CountingHandler(), id="x.a"), tool_named("a", CountingHandler(), id="x.b")]
    with pytest.raises(CatalogueError, match="the name 'a'"):
        build_registry(tools)
    tools = [tool_named("a", CountingHandler(), id="x.a"), tool_named("b", CountingHandler(), id="x.a")]
    with pytest.raises(CatalogueError, match=r"the id 'x\.a'"):
        build_registry(tools)


def test_a_name_must_fit_into_a_subject_and_a_function_definition():
    with pytest.raises(CatalogueError, match="the name"):
        build_registry([tool_named("a.b", CountingHandler())])


def test_tools_are_listed_by_plan():
    both = build_registry(
        [tool_named("f", CountingHandler()), tool_named("p", CountingHandler(), required_plan="premium")]
    )
    assert [entry.tool.name for entry in both.for_plan(Plan.PRO)] == ["f"]
    assert [entry.tool.name for entry in both.for_plan(Plan.PREMIUM)] == ["f", "p"]


async def test_the_export_is_what_models_take(registry: Registry):
    for entry in registry:
        english = catalogue_view(entry, "en")
        assert english == catalogue_view(entry, "en-GB")
        assert english.description != catalogue_view(entry, "es").description
        assert english.parameters["additionalProperties"] is False
        jsonschema_rs.meta.validate(english.parameters)


async def test_every_example_of_the_catalogue_is_valid_input(registry: Registry):
    for entry in registry:
        assert entry.tool.examples, entry.tool.name
        for example in entry.tool.examples:
            given = with_defaults(example, entry.tool.input_schema)
            assert not entry.input.problems(given), entry.tool.name


async def test_every_local_handler_gives_what_its_output_schema_says(registry: Registry):
    caller = VerifiedCaller("demo", "u", "user")
    for entry in registry:
        if entry.category not in {Category.CALCULATE, Category.EDUCATION}:
            continue
        handler = entry.tool.handler
        assert not isinstance(handler, OverTheBus)
        for example in entry.tool.examples:
            given = with_defaults(example, entry.tool.input_schema)
            data = await handler(given, CallContext("c", caller, None, 5.0))
            assert not entry.output.problems(data)


async def test_a_calculator_refuses_what_makes_no_trade_by_field(registry: Registry):
    entry = registry.find("calculate_position_size")
    assert entry is not None
    handler = entry.tool.handler
    assert not isinstance(handler, OverTheBus)
    wrong: Arguments = {"capital": 1, "entry_price": 5, "stop_loss_price": 5, "risk_percent": 0.1, "lot_size": 1}
    with pytest.raises(ToolRefusedError) as refused:
        await handler(wrong, CallContext("c", VerifiedCaller("demo", "u", "user"), None, 5.0))
    assert [problem.field for problem in refused.value.problems] == ["stop_loss_price"]


async def test_fetch_page_is_offered_only_where_the_company_opened_its_site(registry: Registry):
    entry = registry.find("fetch_page")
    assert entry is not None
    for role in ("visitor", "user"):
        caller = VerifiedCaller("demo", "u", role)
        open_site = CompanyTools(ToolConfig(fetch_page_enabled=True, allowed_domains=["https://example.com"]))
        assert entry.visible_to(caller, open_site)
        for closed in (
            CompanyTools(),
            CompanyTools(ToolConfig(fetch_page_enabled=True)),
            CompanyTools(ToolConfig(allowed_domains=["https://example.com"], enabled_tools=["fetch_page"])),
        ):
            assert not entry.visible_to(caller, closed)


def test_a_company_that_trades_nothing_has_no_trading_platforms_tools(registry: Registry):
    everything = {name.value: True for name in Category}
    switches = Categories.model_validate({"visitors": everything, "customers": everything})
    companies = (
        CompanyTools(trades=False),
        CompanyTools(ToolConfig(categories=switches, enabled_tools=["get_price"]), trades=False),
    )
    for company in companies:
        for role in ("visitor", "user", "service"):
            listed = registry.offered_to(VerifiedCaller("shop", "u", role, Plan.PREMIUM), company)
            assert {entry.category for entry in listed} <= {Category.MEMORY, Category.KNOWLEDGE, Category.SITE}
    customer = registry.offered_to(VerifiedCaller("shop", "u", "user"), CompanyTools(trades=False))
    assert "search_memory" in {entry.tool.name for entry in customer}


def test_a_category_is_switched_for_visitors_and_for_customers_apart(registry: Registry):
    visitor, customer = VerifiedCaller("shop", "v", "visitor"), VerifiedCaller("shop", "u", "user", Plan.PREMIUM)
    switches = Categories(visitors={"education": True, "market": False}, customers={"trading": False, "memory": False})
    company = CompanyTools(ToolConfig(categories=switches, enabled_tools=["get_price", "calculate_risk_reward"]))
    seen = {entry.tool.name for entry in registry.offered_to(visitor, company)}
    assert {"explain_concept", "calculate_risk_reward"} <= seen
    assert "get_price" not in seen
    had = {entry.category for entry in registry.offered_to(customer, company)}
    assert {Category.MARKET, Category.EDUCATION} <= had
    assert not had & {Category.TRADING, Category.MEMORY}
    everything = Categories.model_validate({"visitors": {name.value: True for name in Category}})
    paid = registry.offered_to(visitor, CompanyTools(ToolConfig(categories=everything)))
    assert {entry.plan for entry in paid} == {Plan.FREE}


def test_a_new_tool_is_one_declaration_and_one_function():
    async def greet(arguments: Arguments, context: CallContext) -> Data:
        return {"greeting": f"Hello {arguments['name']}"}

    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}
    entry = build_registry([tool_named("greet", greet, input_schema=schema)]).find("greet")
    assert entry is not None
    assert not entry.input.problems({"name": "Ana"})
    assert [problem.field for problem in entry.input.problems({"name": 1, "age": 2})] == ["name", "age"]


def test_a_schema_of_another_document_is_never_fetched():
    with pytest.raises(SchemaBrokenError, match="put the definition into the schema"):
        CompiledSchema({"$ref": "https://example.com/schema.json"})
