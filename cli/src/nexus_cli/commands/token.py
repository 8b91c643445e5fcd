"""`nexus token` prints a signed development token; `nexus env` prints the variables that the examples need."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import typer

from nexus_cli.commands.failures import fail, misuse
from nexus_cli.commands.options import DEFAULT_DATA, Data, require_company


class TokenRole(StrEnum):
    """Roles of the gateway's tokens (interfaces.md)."""

    VISITOR = "visitor"
    USER = "user"
    COMMERCIAL = "commercial"
    ADMIN = "admin"
    SERVICE = "service"
    OPERATOR = "operator"


class PlanName(StrEnum):
    """Plans of customers."""

    FREE = "free"
    PRO = "pro"
    PREMIUM = "premium"


def token(
    role: Annotated[TokenRole, typer.Option(help="What the bearer may do.")],
    user: Annotated[str | None, typer.Option(help="The user's id; else demo-<role or plan>.")] = None,
    company: Annotated[str, typer.Option(help="The company that the token is bound to.")] = "demo",
    plan: Annotated[PlanName, typer.Option(help="The plan, for a customer.")] = PlanName.FREE,
    hours: Annotated[float, typer.Option(help="How long it is valid.", min=0.01, max=8760)] = 12.0,
    data: Data = DEFAULT_DATA,
) -> None:
    """Print a signed development token, for the stack on a data directory.

    Signed with NEXUS_JWT_SECRET if that is set, else with the data directory's own secret.
    """
    from contracts.ids import InvalidIdError, check_company, check_id
    from nexus_cli.identity import development_token
    from nexus_cli.stack.datadir import DataDirectory
    from nexus_cli.stack.settings import read_settings

    user_id = user or f"demo-{plan if role is TokenRole.USER else role}"
    try:
        check_id(user_id, "--user")
        check_company(company)
    except InvalidIdError as error:
        misuse(error)
    own_secret, directory = read_settings().jwt_secret, DataDirectory(data)
    if own_secret is None and directory.is_new:
        fail(f"no stack has run on {data}: start one with `nexus up --data {data}`, or set NEXUS_JWT_SECRET")
    secret = own_secret.get_secret_value() if own_secret else directory.secrets().jwt_secret
    print(development_token(secret, role=role, user=user_id, company=company, plan=plan, hours=hours))


def env(
    company: Annotated[str, typer.Option(help="Whose customer.", callback=require_company)] = "demo",
    plan: Annotated[PlanName, typer.Option(help="The customer's plan.")] = PlanName.PRO,
    data: Data = DEFAULT_DATA,
) -> None:
    """Print what the examples read of the environment: eval "$(nexus env)".

    Addresses of the running stack, and a customer's token for twelve hours.
    """
    from nexus_cli.identity import development_token
    from nexus_cli.target import find_target

    user = f"demo-{plan}"
    target = find_target(data)
    customer_token = development_token(target.jwt_secret, role="user", user=user, company=company, plan=plan)
    variables = {
        "NEXUS_URL": target.gateway,
        "NEXUS_NATS_URL": target.nats,
        "NEXUS_COMPANY": company,
        "NEXUS_USER": user,
        "NEXUS_TOKEN": customer_token,
    }
    for name, value in variables.items():
        if value is not None:
            print(f"export {name}={shlex.quote(value.rstrip('/'))}")
