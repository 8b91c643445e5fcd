"""A company's team in the console, and the OpenID provider that it signs in with."""

from datetime import datetime
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from contracts.enumerations import OPEN_EXCEPT_INPUT, is_input
from contracts.ids import Id
from contracts.own_tools import endpoint
from contracts.plain_text import LINE_OF_SETTINGS
from contracts.strict import Strict

MAX_MEMBERS = 500
TeamRole = Annotated[Literal["commercial", "admin"], OPEN_EXCEPT_INPUT]


def _visible(value: str, info: ValidationInfo) -> str:
    """Refuses an address that contains invisible characters."""
    if is_input(info) and not value.isprintable():
        raise ValueError("take out the invisible characters")
    return value


Email = Annotated[str, Field(min_length=3, max_length=254, pattern=r"^[^\s@]+@[^\s@]+$"), AfterValidator(_visible)]


def _newest(signed_out: object) -> object:
    """Keeps the newest revocations if the list is full. All times are UTC in the same format, so they sort as text."""
    if not isinstance(signed_out, dict):
        return signed_out
    times = cast("dict[str, object]", signed_out)
    return dict(sorted(times.items(), key=lambda entry: str(entry[1]))[-2 * MAX_MEMBERS :])


class OpenIdProvider(Strict):
    """An OpenID Connect provider that the team signs in with. At the provider: the console's address is the redirect
    address, and the client uses the authorization code flow with PKCE."""

    issuer: Annotated[str, Field(max_length=2048), AfterValidator(endpoint)] = Field(
        description="its address, as its own discovery document says it"
    )
    client_id: Annotated[str, Field(min_length=1, max_length=256), LINE_OF_SETTINGS]
    client_secret: Annotated[str, Field(min_length=1, max_length=2048)] | None = Field(
        default=None, description="kept sealed, and never shown again; null: a public client"
    )


class Member(Strict):
    """A team member, who signs in with this e-mail, or has used an invitation."""

    role: TeamRole
    name: Annotated[str, Field(min_length=1, max_length=80), LINE_OF_SETTINGS] | None = None
    email: Email | None = None
    account: str | None = Field(
        default=None, max_length=64, description="a digest of their account at the provider, once they have signed in"
    )
    joined_at: datetime | None = Field(default=None, description="of the last invitation that was used")


class Team(Strict):
    """The human agents and admins that the company lists. People with tokens of another system need not be in it."""

    provider: OpenIdProvider | None = Field(default=None, description="null: members come in by invitation alone")
    members: dict[Id, Member] = Field(default_factory=dict[str, Member], max_length=MAX_MEMBERS)
    signed_out: Annotated[dict[Id, datetime], BeforeValidator(_newest)] = Field(
        default_factory=dict[str, datetime],
        max_length=2 * MAX_MEMBERS,
        description="by user: tokens from before count no more, whoever signed them; the newest 1,000 are kept",
    )

    @property
    def left_at(self) -> dict[str, datetime]:
        """When each human agent who is in the list no more was signed out."""
        return {user: at for user, at in self.signed_out.items() if user not in self.members}

    def is_valid_for(self, user: str, role: str, issued_at: float, *, member: bool) -> bool:
        """Whether a human agent's token is still valid. `issued_at`: seconds since the epoch, 0 if unknown; `member`:
        it was issued to somebody in this list."""
        signed_out_at = self.signed_out.get(user)
        if signed_out_at is not None and issued_at <= signed_out_at.timestamp():
            return False
        if not member:
            return True
        current = self.members.get(user)
        return current is not None and current.role == role
