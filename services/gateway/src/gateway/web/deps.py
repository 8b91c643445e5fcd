"""What every HTTP route works with, and who is calling."""

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Path, Request

from contracts.errors import ErrorCode
from contracts.ids import ID_PATTERN
from gateway.adapters.actions import BusActions
from gateway.adapters.analyses import BusAnalyses
from gateway.adapters.companies import BusCompanies
from gateway.adapters.completions import BusCompletions
from gateway.adapters.console_tokens import ConsoleTokens
from gateway.adapters.handed_calls import HandedCalls
from gateway.adapters.identity import CallerSigner
from gateway.adapters.knowledge import BusKnowledge
from gateway.adapters.memory import BusMemory
from gateway.adapters.personas import DemoPersonas
from gateway.adapters.sightings import BusSightings
from gateway.adapters.sign_in import SignIn
from gateway.adapters.tools import ToolClient
from gateway.chat.access import Access
from gateway.chat.action_states import ActionStates
from gateway.chat.commands import Commands
from gateway.chat.files import Files
from gateway.chat.limits import Door
from gateway.chat.replays import Replays
from gateway.chat.threads import Threads
from gateway.chat.topics import Topics
from gateway.errors import Refused, TokenInvalid
from gateway.ports import TokenCaller, TokenReader
from runtime.clock import Clock
from runtime.correlation import begin
from runtime.rpc import RpcClient


@dataclass(frozen=True, slots=True)
class Api:
    """What routes use; built in app.py."""

    rpc: RpcClient
    tokens: TokenReader
    console: ConsoleTokens
    companies: BusCompanies
    access: Access
    commands: Commands
    threads: Threads
    memory: BusMemory
    door: Door
    files: Files
    tools: ToolClient
    actions: BusActions
    standing: ActionStates
    knowledge: BusKnowledge
    completions: BusCompletions
    topics: Topics
    replays: Replays
    principals: CallerSigner
    analyses: BusAnalyses
    handed: HandedCalls
    sightings: BusSightings
    clock: Clock
    seal_key: bytes
    dev: bool = False
    personas: DemoPersonas | None = None
    sign_in: SignIn | None = None


def get_api(request: Request) -> Api:
    """The application's one Api."""
    return cast(Api, request.app.state.api)


async def _api(request: Request) -> Api:
    # The framework runs what is not async in a thread: a hop there and back with each request.
    return get_api(request)


ApiDep = Annotated[Api, Depends(_api)]
ConversationPath = Annotated[str, Path(pattern=ID_PATTERN, alias="conversationId", description="a conversation's id")]


def bearer(request: Request) -> str | None:
    """The token of the Authorization header; None without one."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


async def get_caller(request: Request, api: ApiDep) -> TokenCaller:
    """Who is calling; raises TokenInvalid (401)."""
    token = bearer(request)
    if token is None:
        raise TokenInvalid("send a token: Authorization: Bearer …")
    caller = await api.tokens.verify(token)
    begin(caller.company, request.path_params.get("conversationId", ""))
    return caller


CallerDep = Annotated[TokenCaller, Depends(get_caller)]


async def get_operator(caller: CallerDep) -> TokenCaller:
    """A human agent or admin; raises FORBIDDEN (403) for anybody else."""
    if not caller.is_operator:
        raise Refused(ErrorCode.FORBIDDEN, "this is for human agents (roles commercial and admin)")
    return caller


OperatorDep = Annotated[TokenCaller, Depends(get_operator)]


async def get_person(caller: CallerDep) -> TokenCaller:
    """A human agent, or a visitor or customer with conversations of their own; raises FORBIDDEN (403) otherwise."""
    if not (caller.is_operator or caller.writes_as_visitor):
        raise Refused(ErrorCode.FORBIDDEN, f"the role {caller.role} has no conversations")
    return caller


PersonDep = Annotated[TokenCaller, Depends(get_person)]


async def get_writer(caller: CallerDep) -> TokenCaller:
    """A visitor or customer, who write in conversations of their own; raises FORBIDDEN (403) for anybody else."""
    if not caller.writes_as_visitor:
        raise Refused(ErrorCode.FORBIDDEN, f"the role {caller.role} has no conversations")
    return caller


WriterDep = Annotated[TokenCaller, Depends(get_writer)]


async def get_admin(caller: CallerDep) -> TokenCaller:
    """An admin, who acts on their own company alone; raises FORBIDDEN (403) for anybody else."""
    if caller.role != "admin":
        raise Refused(ErrorCode.FORBIDDEN, "this is for admins (role admin)")
    return caller


async def get_founder(caller: CallerDep) -> TokenCaller:
    """Whoever runs the installation, or an admin for their own company; raises FORBIDDEN (403) for anybody else."""
    if caller.role not in {"admin", "operator"}:
        raise Refused(ErrorCode.FORBIDDEN, "this is for operators of the installation and for admins of the company")
    return caller


FounderDep = Annotated[TokenCaller, Depends(get_founder)]
AdminDep = Annotated[TokenCaller, Depends(get_admin)]


async def get_service(caller: CallerDep) -> TokenCaller:
    """Another service of the company; raises FORBIDDEN (403) for anybody else."""
    if caller.role != "service":
        raise Refused(ErrorCode.FORBIDDEN, "this is for services (role service)")
    return caller


ServiceDep = Annotated[TokenCaller, Depends(get_service)]


async def get_customer(caller: CallerDep) -> TokenCaller:
    """A customer or a service; raises FORBIDDEN (403) for anybody else."""
    if caller.role not in {"user", "service"}:
        raise Refused(ErrorCode.FORBIDDEN, "this is for customers and services (roles user and service)")
    return caller


CustomerDep = Annotated[TokenCaller, Depends(get_customer)]


async def get_self(caller: CallerDep) -> TokenCaller:
    """Somebody of whom something is kept: a visitor, a customer or a service; raises FORBIDDEN (403) otherwise."""
    if caller.role not in {"visitor", "user", "service"}:
        raise Refused(ErrorCode.FORBIDDEN, "this is for visitors, customers and services (visitor, user, service)")
    return caller


SelfDep = Annotated[TokenCaller, Depends(get_self)]
