"""Settings tried before they are saved, and turns explained."""

from typing import Any

from contracts import replay_rpc, trying_rpc
from contracts.company import CompanyConfig, ToolConfig
from contracts.events.tool import ToolResult
from contracts.languages import Language
from gateway.adapters.identity import CallerSigner
from gateway.adapters.service_calls import ask
from gateway.ports import TokenCaller
from runtime.rpc import RpcClient

TRY_SECONDS = trying_rpc.TRY_SECONDS + 1.0
"""Seconds for a try-out: the agent's own, and a moment for its answer to come back."""

OWN_TOOL_SECONDS = 32.0
"""For a call of a company's own tool, which may take 30 s itself, and for its model, which has 20."""


class BusTryouts:
    """Agents and executors behind their RPC methods. What is tried is tried as a visitor of the company.

    Each method raises Unavailable when nobody answers in time, Refused and Limited with the service's own code.
    """

    def __init__(self, client: RpcClient, principals: CallerSigner) -> None:
        self._client = client
        self._principals = principals

    async def prompt(self, caller: TokenCaller, config: CompanyConfig, language: Language) -> trying_rpc.PromptReply:
        """The prompt that these settings make."""
        request = trying_rpc.PromptRequest(config=config, principal=self._visitor(caller, language), language=language)
        return await ask(self._client, trying_rpc.PROMPT, request)

    async def answer(
        self, caller: TokenCaller, config: CompanyConfig, question: str, language: Language
    ) -> trying_rpc.TryReply:
        """An answer with these settings."""
        request = trying_rpc.TryRequest(
            config=config, principal=self._visitor(caller, language), question=question, language=language
        )
        return await ask(self._client, trying_rpc.TRY, request, deadline=TRY_SECONDS)

    async def site(self, tools: ToolConfig, address: str, language: Language) -> trying_rpc.SiteCheckReply:
        """Whether fetch_page may read the address."""
        request = trying_rpc.SiteCheckRequest(tool_config=tools, address=address, language=language)
        return await ask(self._client, trying_rpc.SITE_CHECK, request)

    async def own_tool(
        self,
        caller: TokenCaller,
        config: CompanyConfig,
        tool: str,
        arguments: dict[str, Any],
        language: Language,
    ) -> ToolResult:
        """What one call of the company's own tool gives; it is really made."""
        request = trying_rpc.OwnToolRequest(
            config=config, tool=tool, arguments=arguments, user_id=caller.subject, language=language
        )
        return (await ask(self._client, trying_rpc.OWN_TOOL_TRY, request, deadline=OWN_TOOL_SECONDS)).result

    async def model(self, config: CompanyConfig, language: Language) -> trying_rpc.ModelCheckReply:
        """Whether these settings' model answers."""
        request = trying_rpc.ModelCheckRequest(config=config, language=language)
        return await ask(self._client, trying_rpc.MODEL_CHECK, request, deadline=OWN_TOOL_SECONDS)

    async def mcp_tools(self, config: CompanyConfig, server: str, language: Language) -> trying_rpc.McpToolsReply:
        """What an MCP server of these settings has."""
        request = trying_rpc.McpToolsRequest(config=config, server=server, language=language)
        return await ask(self._client, trying_rpc.MCP_TOOLS, request, deadline=OWN_TOOL_SECONDS)

    async def explain(self, turn: trying_rpc.TurnRequest) -> trying_rpc.ExplainedTurn | None:
        """What the turn's answer was made of; None: it is not on record."""
        request = trying_rpc.ExplainRequest(**turn.model_dump())
        return (await ask(self._client, trying_rpc.EXPLAIN, request)).turn

    async def replay(
        self, turn: trying_rpc.TurnRequest, model: str | None, prompt: str | None
    ) -> replay_rpc.ComparedTurn | None:
        """The turn again, with another model or prompt; None: it is not on record."""
        request = replay_rpc.ReplayRequest(**turn.model_dump(), model=model, prompt=prompt)
        return (await ask(self._client, replay_rpc.REPLAY, request, deadline=TRY_SECONDS)).turn

    async def case(self, turn: trying_rpc.TurnRequest) -> replay_rpc.MadeCase | None:
        """The turn as a case of `nexus eval`; None: it is not on record."""
        return (await ask(self._client, replay_rpc.CASE, turn)).case

    def _visitor(self, caller: TokenCaller, language: str) -> str:
        visitor = TokenCaller(
            subject=f"try-{caller.subject}"[:64],
            role="visitor",
            company=caller.company,
            plan="free",
            expires=caller.expires,
        )
        return self._principals.sign(visitor, None, language)
