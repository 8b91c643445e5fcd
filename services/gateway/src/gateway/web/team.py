"""/v2/team: the company's team in the console, for its admins; and signing out everywhere, for everybody."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from contracts.company import CompanySettings
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.ids import ID_PATTERN, Id, uuid7
from contracts.plain_text import LINE
from contracts.team import Email, Member, TeamRole
from gateway.errors import RefusedError, found
from gateway.ports import TokenCaller
from gateway.web.company_settings import change, stored
from gateway.web.deps import AdminDep, Api, ApiDep, OperatorDep
from gateway.web.first_hour import server_of
from gateway.web.problems import described

router = APIRouter(prefix="/v2/team", tags=["console"])
UserPath = Annotated[str, Path(pattern=ID_PATTERN, alias="userId", description="me: whoever calls")]
ROLES = frozenset({"commercial", "admin"})


class MemberView(Wire):
    """A team member. `joined`: they have signed in, or used an invitation."""

    user_id: Id
    role: TeamRole
    name: str | None = None
    email: str | None = None
    joined: bool


class TeamView(Wire):
    """The team, and the provider it signs in with. `redirectUri`: the console's address to register there."""

    members: list[MemberView]
    issuer: str | None = None
    redirect_uri: str


class NewMember(Wire):
    """A member to invite. With an e-mail that the provider has verified they need no link."""

    role: TeamRole = "commercial"
    name: Annotated[str, Field(min_length=1, max_length=80), LINE] | None = None
    email: Email | None = None


class Invited(Wire):
    """`link` is valid for a week, and once; whoever has it becomes this member."""

    member: MemberView
    link: str
    expires_at: datetime


class RoleChange(Wire):
    """The new role."""

    role: TeamRole


@router.get("", response_model_exclude_none=True, responses=described(404))
async def list_team(api: ApiDep, caller: AdminDep, request: Request) -> TeamView:
    """The team, by names."""
    team = (await stored(api, caller.company)).config.team
    members = [_view(user, member) for user, member in team.members.items()]
    return TeamView(
        members=sorted(members, key=lambda member: (member.name or member.email or member.user_id).casefold()),
        issuer=team.provider.issuer if team.provider else None,
        redirect_uri=f"{server_of(request)}/console",
    )


@router.post("", status_code=201, response_model_exclude_none=True, responses=described(404, 409))
async def invite(api: ApiDep, caller: AdminDep, body: NewMember, request: Request) -> Invited:
    """Adds a member, with a link that signs them in."""
    _check_role(body.role)
    team = (await stored(api, caller.company)).config.team
    email = body.email.casefold() if body.email else None
    if email and any(member.email and member.email.casefold() == email for member in team.members.values()):
        raise RefusedError(ErrorCode.CONFLICT, "somebody in the team already has this e-mail")
    user = f"a_{uuid7().replace('-', '')}"
    await _change(api, caller, {"members": {user: body.to_wire()}})
    return _invitation(api, caller, request, user, Member(role=body.role, name=body.name, email=body.email))


@router.post("/{userId}/invitation", status_code=201, response_model_exclude_none=True, responses=described(404))
async def invite_again(api: ApiDep, caller: AdminDep, user: UserPath, request: Request) -> Invited:
    """A new link for a member who lost the first one or uses another account."""
    return _invitation(api, caller, request, user, await _member(api, caller, user))


@router.patch("/{userId}", response_model_exclude_none=True, responses=described(404))
async def change_role(api: ApiDep, caller: AdminDep, user: UserPath, body: RoleChange) -> MemberView:
    """Changes a role. The member's sessions end, and they sign in again with the new one."""
    _check_role(body.role)
    await _member(api, caller, user)
    saved = await _change(api, caller, {"members": {user: {"role": body.role}}, "signedOut": {user: _now()}})
    return _view(user, saved.config.team.members[user])


@router.delete("/{userId}", status_code=204, responses=described(404))
async def remove(api: ApiDep, caller: AdminDep, user: UserPath) -> Response:
    """Removes a member: their tokens and open connections end at once."""
    await _member(api, caller, user)
    await _change(api, caller, {"members": {user: None}, "signedOut": {user: _now()}})
    return Response(status_code=204)


@router.post("/{userId}/sign-out", status_code=204, responses=described())
async def sign_out(api: ApiDep, caller: OperatorDep, user: UserPath) -> Response:
    """Ends all sessions of a user, whoever signed their tokens: one's own (`me`), or anybody's, for admins."""
    target = caller.subject if user == "me" else user
    if target != caller.subject and caller.role != "admin":
        raise RefusedError(ErrorCode.FORBIDDEN, "this is for admins (role admin)")
    await _change(api, caller, {"signedOut": {target: _now()}})
    return Response(status_code=204)


async def _change(api: Api, caller: TokenCaller, team: dict[str, object]) -> CompanySettings:
    """Changes the team with a merge patch, which does not conflict with other changes since it names only one
    member."""
    return await change(api, caller, {"team": team}, "*")


async def _member(api: Api, caller: TokenCaller, user: str) -> Member:
    return found((await stored(api, caller.company)).config.team.members.get(user), "member")


def _invitation(api: Api, caller: TokenCaller, request: Request, user: str, member: Member) -> Invited:
    signed = api.identity.console.invite(caller.company, user)
    return Invited(
        member=_view(user, member),
        link=f"{server_of(request)}/console#invite={signed.token}",
        expires_at=datetime.fromtimestamp(signed.expires, UTC),
    )


def _view(user: str, member: Member) -> MemberView:
    joined = member.joined_at is not None or member.account is not None
    return MemberView(user_id=user, role=member.role, name=member.name, email=member.email, joined=joined)


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise RefusedError(ErrorCode.BAD_FIELD, "role: use commercial or admin")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
