"""Price alerts of the caller. The market-adapter serves them and stores the call id with each alert."""

from functools import partial

from contracts.tools.account import (
    AlertArguments,
    AlertRef,
    AlertsData,
    CreatedAlertData,
    DeletedAlertData,
    ListArguments,
)
from contracts.tools.arguments import input_schema
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import with_normal_symbol
from tool_executor.texts import named

alert_tool = partial(DeclaredTool, category=Category.ALERTS, required_plan="pro", handler=OverTheBus())

TOOLS: list[DeclaredTool] = [
    alert_tool(
        id="alert.create",
        **named("create_alert"),
        per_minute=20,
        side_effects=True,
        time_limit=5.0,
        input_schema=input_schema(AlertArguments),
        output_schema=output_schema(CreatedAlertData),
        reconcile=OverTheBus(),
        normaliser=with_normal_symbol,
        examples=({"symbol": "AAPL", "condition": ">=", "price": 450},),
    ),
    alert_tool(
        id="alert.list",
        **named("list_alerts"),
        per_minute=30,
        time_limit=5.0,
        input_schema=input_schema(ListArguments),
        output_schema=output_schema(AlertsData),
        normaliser=with_normal_symbol,
        examples=({}, {"symbol": "AAPL"}),
    ),
    alert_tool(
        id="alert.delete",
        **named("delete_alert"),
        per_minute=20,
        side_effects=True,
        destructive=True,
        idempotent=True,
        time_limit=5.0,
        input_schema=input_schema(AlertRef),
        output_schema=output_schema(DeletedAlertData),
        reconcile=OverTheBus(),
        examples=({"alert_id": "0196f0c2-6a51-7cc3-9b7e-0d5b2f3a1c44"},),
    ),
]
