"""Price alerts of the caller's own. The market-adapter serves them and keeps the call id with each alert."""

from contracts.text import Text
from contracts.tools.account import AlertArguments, AlertRef, ListArguments
from contracts.tools.arguments import input_schema
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import (
    TEXT,
    gives,
    list_of,
    with_normal_symbol,
)


def tools() -> list[DeclaredTool]:
    """The category's tools."""
    return [
        DeclaredTool(
            id="alert.create",
            name="create_alert",
            description=Text(
                es="Crea una alerta de precio; avisa al usuario en el chat una sola vez, cuando se cumple.",
                en="Creates a price alert; it tells the user in the chat, once, when the condition comes true.",
            ),
            label=Text(es="Creando la alerta…", en="Creating the alert…"),
            category=Category.ALERTS,
            required_plan="pro",
            per_minute=20,
            side_effects=True,
            time_limit=5.0,
            input_schema=input_schema(AlertArguments),
            output_schema=gives({"alert_id": TEXT}),
            handler=OverTheBus(),
            reconcile=OverTheBus(),
            normaliser=with_normal_symbol,
            examples=({"symbol": "AAPL", "condition": ">=", "price": 450},),
        ),
        DeclaredTool(
            id="alert.list",
            name="list_alerts",
            description=Text(
                es="Alertas activas del usuario, todas o las de un símbolo.",
                en="The user's active alerts, all of them or a symbol's.",
            ),
            label=Text(es="Consultando tus alertas…", en="Looking up your alerts…"),
            category=Category.ALERTS,
            required_plan="pro",
            per_minute=30,
            time_limit=5.0,
            input_schema=input_schema(ListArguments),
            output_schema=gives({"alerts": list_of({"type": "object"})}),
            handler=OverTheBus(),
            normaliser=with_normal_symbol,
            examples=({}, {"symbol": "AAPL"}),
        ),
        DeclaredTool(
            id="alert.delete",
            name="delete_alert",
            description=Text(es="Borra una alerta del usuario.", en="Deletes one of the user's alerts."),
            label=Text(es="Borrando la alerta…", en="Deleting the alert…"),
            category=Category.ALERTS,
            required_plan="pro",
            per_minute=20,
            side_effects=True,
            destructive=True,
            idempotent=True,
            time_limit=5.0,
            input_schema=input_schema(AlertRef),
            output_schema=gives({"alert_id": TEXT}),
            handler=OverTheBus(),
            reconcile=OverTheBus(),
            examples=({"alert_id": "0196f0c2-6a51-7cc3-9b7e-0d5b2f3a1c44"},),
        ),
    ]
