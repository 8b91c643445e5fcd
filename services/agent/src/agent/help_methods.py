"""What the agent answers to human agents and admins: one thin function for each method."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from agent.assist.deps import HelpPorts
from agent.assist.improvement import Improving
from agent.assist.suggestions import Suggesting
from agent.errors import BudgetSpentError, HelpRefusedError, ModelError, UnreachableError
from agent.ports import Key
from contracts.agent_rpc import (
    IMPROVE,
    PROVIDERS,
    SUGGEST,
    ImproveReply,
    ImproveRequest,
    ModelView,
    ProvidersReply,
    ProvidersRequest,
    ProviderView,
    SuggestReply,
    SuggestRequest,
)
from contracts.errors import ErrorCode
from contracts.providers import ProviderInfo
from runtime.errors import RpcError
from runtime.rpc import RpcServer

ResultT = TypeVar("ResultT")


class HelpMethods:
    """Suggestions, better wording, the list of providers."""

    def __init__(self, ports: HelpPorts, listed: Callable[[], Sequence[tuple[ProviderInfo, bool]]]) -> None:
        self._suggesting = Suggesting(ports)
        self._improving = Improving(ports)
        self._listed = listed

    async def serve(self, server: RpcServer) -> None:
        """Serves all of them from now on."""
        await server.serve(SUGGEST, self.suggest)
        await server.serve(IMPROVE, self.improve)
        await server.serve(PROVIDERS, self.providers)

    async def suggest(self, request: SuggestRequest) -> SuggestReply:
        """Three replies to choose from."""
        key = Key(request.company_id, request.conversation_id)
        texts, model = await _answered(self._suggesting.suggest(key))
        return SuggestReply(suggestions=texts, model=model)

    async def improve(self, request: ImproveRequest) -> ImproveReply:
        """A draft written better."""
        key = Key(request.company_id, request.conversation_id or "")
        improving = self._improving.improve(key, request.text, tone=request.tone, locale=request.locale)
        text, model = await _answered(improving)
        return ImproveReply(text=text, model=model)

    async def providers(self, request: ProvidersRequest) -> ProvidersReply:
        """The providers and their models; the same for every company, as the keys are the installation's."""
        del request
        return ProvidersReply(providers=[_view(provider, configured) for provider, configured in self._listed()])


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


async def _answered(work: Awaitable[ResultT]) -> ResultT:
    """The result; errors of this service become the contract's."""
    try:
        return await work
    except HelpRefusedError as error:
        raise RpcError(error.code, str(error)) from error
    except BudgetSpentError as error:
        raise RpcError(ErrorCode.RATE_LIMITED, str(error), reason=error.until) from error
    except ModelError as error:
        raise RpcError(ErrorCode.UNAVAILABLE, f"no model answered: {error}", retryable=True) from error
    except UnreachableError as error:
        raise RpcError(ErrorCode.UNAVAILABLE, str(error), retryable=True) from error
