"""Every method that can be called on the bus, by whoever serves it."""

from typing import Any

from contracts import (
    agent_rpc,
    channel_rpc,
    company_rpc,
    completion_rpc,
    context_rpc,
    desk_rpc,
    failed_rpc,
    identity_rpc,
    insight_rpc,
    knowledge_rpc,
    market_rpc,
    mcp_rpc,
    memory_rpc,
    migration_rpc,
    owner_rpc,
    proposal_rpc,
    report_rpc,
    rpc,
    tools_rpc,
    trying_rpc,
)

METHODS: tuple[rpc.Rpc[Any, Any], ...] = (
    *rpc.METHODS,
    *agent_rpc.METHODS,
    *channel_rpc.METHODS,
    *company_rpc.METHODS,
    *completion_rpc.METHODS,
    *memory_rpc.METHODS,
    *context_rpc.METHODS,
    *desk_rpc.METHODS,
    *failed_rpc.METHODS,
    *identity_rpc.METHODS,
    *insight_rpc.METHODS,
    *knowledge_rpc.METHODS,
    *market_rpc.METHODS,
    *mcp_rpc.METHODS,
    *migration_rpc.METHODS,
    *owner_rpc.METHODS,
    *proposal_rpc.METHODS,
    *report_rpc.METHODS,
    *tools_rpc.METHODS,
    *trying_rpc.METHODS,
)
