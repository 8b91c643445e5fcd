"""The agent's methods for human agents and admins: one thin function each."""

from collections.abc import Callable, Sequence

from agent.assist.deps import HelpPorts, messages_of
from agent.assist.improvement import improve
from agent.assist.suggestions import suggest
from agent.domain.hand_over import summary_of
from agent.ports import ConversationKey
from contracts.agent_rpc import (
    IMPROVE,
    PROVIDERS,
    SUGGEST,
    SUMMARY,
    ImproveReply,
    ImproveRequest,
    ModelView,
    ProvidersReply,
    ProvidersRequest,
    ProviderView,
    SuggestReply,
    SuggestRequest,
    SummaryReply,
    SummaryRequest,
)
from contracts.languages import named_language
from contracts.providers import ProviderInfo
from runtime.calls.rpc import RpcServer


class HelpMethods:
    """Suggestions, better wording, summaries, the list of providers."""

    def __init__(self, ports: HelpPorts, list_providers: Callable[[], Sequence[tuple[ProviderInfo, bool]]]) -> None:
        self._ports = ports
        self._list_providers = list_providers

    async def serve(self, server: RpcServer) -> None:
        await server.serve(SUGGEST, self.suggest)
        await server.serve(IMPROVE, self.improve)
        await server.serve(SUMMARY, self.summary)
        await server.serve(PROVIDERS, self.providers)

    async def suggest(self, request: SuggestRequest) -> SuggestReply:
        key = ConversationKey(request.company_id, request.conversation_id)
        texts, model = await suggest(self._ports, key)
        return SuggestReply(suggestions=texts, model=model)

    async def improve(self, request: ImproveRequest) -> ImproveReply:
        key = ConversationKey(request.company_id, request.conversation_id or "")
        text, model = await improve(self._ports, key, request.text, tone=request.tone, locale=request.locale)
        return ImproveReply(text=text, model=model)

    async def summary(self, request: SummaryRequest) -> SummaryReply:
        history = await messages_of(self._ports, ConversationKey(request.company_id, request.conversation_id))
        return SummaryReply(summary=summary_of(history.messages, (), named_language(request.locale)))

    async def providers(self, request: ProvidersRequest) -> ProvidersReply:
        """Lists the providers and their models, the same for every company, because the keys belong to the
        installation."""
        return ProvidersReply(
            providers=[_view(provider, configured) for provider, configured in self._list_providers()]
        )


def _view(provider: ProviderInfo, configured: bool) -> ProviderView:
    models = [
        ModelView(
            id=model.name,
            aliases=list(model.aliases),
            default=position == 0,
            params=model.params,
            recommended_use=model.use,
            context_window=model.window,
        )
        for position, model in enumerate(provider.models)
    ]
    return ProviderView(id=provider.name, label=provider.label, configured=configured, models=models)
