"""Dependencies of every HTTP route, and the caller's identity."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Header, Path, Request
from fastapi.openapi.models import HTTPBearer
from fastapi.openapi.models import SecurityBase as SecurityScheme
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase

from contracts.errors import ErrorCode
from contracts.ids import ID_PATTERN
from gateway.adapters.actions import BusActions
from gateway.adapters.analyses import BusAnalyses
from gateway.adapters.companies import BusCompanies
from gateway.adapters.completions import BusCompletions
from gateway.adapters.handed_calls import HandedCalls
from gateway.adapters.identity import IdentityKeys
from gateway.adapters.knowledge import BusKnowledge
from gateway.adapters.memory import BusMemory
from gateway.adapters.personas import DemoPersonas
from gateway.adapters.sightings import BusSightings
from gateway.adapters.tools import ToolClient
from gateway.chat.action_states import ActionStates
from gateway.chat.replays import Replays
from gateway.chat.session import Chat
from gateway.chat.threads import Threads
from gateway.errors import RefusedError, TokenInvalidError
from gateway.ports import TokenCaller
from runtime.auth.tokens import TokenMinter
from runtime.calls.rpc import RpcClient
from runtime.clock import Clock
from runtime.observability.correlation import begin


@dataclass(frozen=True, slots=True)
class Api:
    """The objects that routes use; app.py builds them."""

    rpc: RpcClient
    chat: Chat
    identity: IdentityKeys
    companies: BusCompanies
    threads: Threads
    memory: BusMemory
    tools: ToolClient
    actions: BusActions
    action_states: ActionStates
    knowledge: BusKnowledge
    completions: BusCompletions
    replays: Replays
    analyses: BusAnalyses
    handed: HandedCalls
    sightings: BusSightings
    clock: Clock
    dev: bool = False
    personas: DemoPersonas | None = None
    minter: TokenMinter | None = None
    """Signs users' tokens, if this installation does."""


def get_api(request: Request) -> Api:
    return request.app.state.api


async def _api(request: Request) -> Api:
    # Async, since the framework runs other functions in a thread, which costs two switches for each request.
    return get_api(request)


ApiDep = Annotated[Api, Depends(_api)]
ConversationPath = Annotated[str, Path(pattern=ID_PATTERN, alias="conversationId", description="a conversation's id")]


def bearer(request: Request) -> str | None:
    """The bearer token of the Authorization header, or None. Raises TokenInvalidError for several headers, of which a
    server in between may have checked another one."""
    values = [value for name, value in request.scope["headers"] if name == b"authorization"]
    if len(values) > 1:
        raise TokenInvalidError("send one Authorization header, not several")
    scheme, _, token = (values[0] if values else b"").decode("latin-1").partition(" ")
    return (token.strip() or None) if scheme.lower() == "bearer" else None


async def verified(request: Request, api: Api) -> TokenCaller:
    """Verifies the token and returns the caller. Raises TokenInvalidError (401)."""
    token = bearer(request)
    if token is None:
        raise TokenInvalidError("send a token: Authorization: Bearer …")
    caller = await api.chat.tokens.verify(token)
    begin(caller.company, request.path_params.get("conversationId", ""))
    return caller


@dataclass(frozen=True, slots=True)
class Only(SecurityBase):
    """A dependency that admits only some callers; OpenAPI says of its routes that they need a token. It has no
    dependencies itself, since each one that the framework resolves costs every request."""

    may: Callable[[TokenCaller], bool]
    refusal: str = ""
    """The message of the refusal; `{role}` stands for the caller's role."""
    model: SecurityScheme = field(default_factory=lambda: HTTPBearer(bearerFormat="JWT"), init=False, compare=False)
    scheme_name: str = field(default="bearer", init=False)

    async def __call__(self, request: Request) -> TokenCaller:
        return self.check(await verified(request, get_api(request)))

    def check(self, caller: TokenCaller) -> TokenCaller:
        """Returns the caller if they may call; otherwise raises FORBIDDEN (403)."""
        if not self.may(caller):
            raise RefusedError(ErrorCode.FORBIDDEN, self.refusal.format(role=caller.role))
        return caller


def admission(route: object) -> Only | None:
    """The dependency that says who may use the route; None if everybody may."""
    dependencies = route.dependant.dependencies if isinstance(route, APIRoute) else []
    return next((dependency.call for dependency in dependencies if isinstance(dependency.call, Only)), None)


def _roles(*roles: str, refusal: str) -> Only:
    return Only(lambda caller: caller.role in roles, refusal)


_NO_CONVERSATIONS = "the role {role} has no conversations"
OPERATORS = Only(lambda caller: caller.is_operator, "this is for human agents (roles commercial and admin)")
PEOPLE = Only(lambda caller: caller.is_operator or caller.writes_as_visitor, _NO_CONVERSATIONS)
"""Human agents, visitors and customers: everybody who has conversations."""
WRITERS = Only(lambda caller: caller.writes_as_visitor, _NO_CONVERSATIONS)
"""Visitors and customers, who write in their own conversations."""
ADMINS = _roles("admin", refusal="this is for admins (role admin)")
"""Admins, who act on their own company only."""
FOUNDERS = _roles(
    "admin", "operator", refusal="this is for operators of the installation and for admins of the company"
)
"""Operators, and admins for their own company."""
SERVICES = _roles("service", refusal="this is for services (role service)")
CUSTOMERS = _roles("user", "service", refusal="this is for customers and services (roles user and service)")
DATA_SUBJECTS = _roles(
    "visitor", "user", "service", refusal="this is for visitors, customers and services (visitor, user, service)"
)
"""Callers about whom data is stored."""
OF_A_COMPANY = Only(lambda caller: caller.role != "operator", "the role {role} belongs to no company")

CallerDep = Annotated[TokenCaller, Depends(Only(lambda _: True))]
OperatorDep = Annotated[TokenCaller, Depends(OPERATORS)]
PersonDep = Annotated[TokenCaller, Depends(PEOPLE)]
WriterDep = Annotated[TokenCaller, Depends(WRITERS)]
AdminDep = Annotated[TokenCaller, Depends(ADMINS)]
FounderDep = Annotated[TokenCaller, Depends(FOUNDERS)]
ServiceDep = Annotated[TokenCaller, Depends(SERVICES)]
CustomerDep = Annotated[TokenCaller, Depends(CUSTOMERS)]
MemberDep = Annotated[TokenCaller, Depends(OF_A_COMPANY)]
SelfDep = Annotated[TokenCaller, Depends(DATA_SUBJECTS)]


def idempotency_key(again: str) -> object:
    """The Idempotency-Key header. `again` describes what a request with the same key does."""
    return Header(alias="Idempotency-Key", min_length=1, max_length=255, description=again)
