"""OpenID Connect Core 1.0, the authorization code flow with PKCE: requests, checks, and matching an account to a team
member. Pure functions."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode, urlsplit

import jwt
import orjson
from jwt import PyJWK

from contracts.json_values import is_object, list_of, object_of
from contracts.own_tools import endpoint
from contracts.sign_in_rpc import Invitation, Refusal
from contracts.team import Member, Team

LEEWAY_SECONDS = 60
"""Seconds that the provider's clock may differ from ours."""
KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""Key types by the first letters of an algorithm's name. HMAC (HS…) is not accepted: the client knows the secret
too."""
_ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"})
_SCOPE = "openid email profile"
ANOTHER_CLIENT = "the ID token was made for another client"


class SignInRefusedError(ValueError):
    """Nobody is signed in; `reason` as in contracts.sign_in_rpc."""

    def __init__(self, reason: Refusal, detail: str = "") -> None:
        super().__init__(detail)
        self.reason: Refusal = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class ProviderMetadata:
    """The parts of a provider's discovery document that are used here."""

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str | None
    posts_secret: bool
    """Whether the client's secret goes into the body rather than a header."""
    names_issuer: bool
    """Whether the provider sends its issuer with each code (RFC 9207)."""


def parse_discovery(document_json: object, issuer: str) -> ProviderMetadata:
    """Parses this issuer's discovery document; raises SignInRefusedError."""
    if not is_object(document_json):
        raise SignInRefusedError("broken", "the discovery document is not a JSON object")
    document = object_of(document_json)
    # People type the address with or without a final slash.
    document_issuer = str(document.get("issuer"))
    if document_issuer.rstrip("/") != issuer.rstrip("/"):
        raise SignInRefusedError(
            "broken", f"the discovery document belongs to another issuer: {str(document.get('issuer'))[:200]}"
        )
    methods = list_of(document.get("token_endpoint_auth_methods_supported")) or ["client_secret_basic"]
    userinfo = document.get("userinfo_endpoint")
    return ProviderMetadata(
        issuer=document_issuer,
        authorization=_address(document, "authorization_endpoint"),
        token=_address(document, "token_endpoint"),
        keys=_address(document, "jwks_uri"),
        userinfo=_address(document, "userinfo_endpoint") if userinfo is not None else None,
        posts_secret="client_secret_basic" not in methods and "client_secret_post" in methods,
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def authorization_address(
    provider: ProviderMetadata, client_id: str, *, redirect_uri: str, state: str, nonce: str, challenge: str
) -> str:
    parameters = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": _SCOPE,
        "state": state,
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    separator = "&" if urlsplit(provider.authorization).query else "?"
    return f"{provider.authorization}{separator}{urlencode(parameters)}"


def signature_header(token: str) -> tuple[str, str | None]:
    """Returns the algorithm and key id of an ID token; raises SignInRefusedError if the algorithm is not acceptable."""
    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError as error:
        raise SignInRefusedError("broken", "the provider's ID token is not a JWT") from error
    algorithm, key = header.get("alg"), header.get("kid")
    if algorithm not in _ALGORITHMS:
        raise SignInRefusedError("refused", f"ID tokens signed with {str(algorithm)[:20]!r} prove nothing")
    return algorithm, key if isinstance(key, str) else None


def verified_claims(
    token: str, algorithm: str, key: PyJWK, *, issuer: str, client_id: str, nonce: str, now: datetime
) -> dict[str, object]:
    """Returns the verified claims of an ID token (section 3.1.3.7); raises SignInRefusedError."""
    if key.key_type != KEY_TYPES[algorithm[:2]]:
        raise SignInRefusedError("refused", "the ID token's key does not fit its algorithm")
    try:
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[algorithm],
            audience=client_id,
            issuer=issuer,
            options={
                "require": ["iss", "sub", "aud", "exp", "iat"],
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except jwt.InvalidAudienceError as error:
        raise SignInRefusedError("refused", ANOTHER_CLIENT) from error
    except jwt.InvalidIssuerError as error:
        raise SignInRefusedError("refused", "the ID token comes from another provider") from error
    except jwt.InvalidSignatureError as error:
        raise SignInRefusedError("refused", "the ID token's signature is not by the provider's key") from error
    except jwt.MissingRequiredClaimError as error:
        raise SignInRefusedError("refused", f"the ID token has no {error.claim}") from error
    except jwt.PyJWTError as error:
        raise SignInRefusedError("refused", f"the ID token is invalid: {error}") from error
    try:
        orjson.dumps(claims)
    except TypeError as error:  # half of a character, or a number that fits nowhere
        raise SignInRefusedError("broken", "the ID token says something that is neither text nor number") from error
    seconds = now.timestamp()
    times = {name: claims.get(name, 0) for name in ("exp", "iat", "nbf")}
    if not all(isinstance(time, int | float) and 0 <= time < 2**53 for time in times.values()):
        raise SignInRefusedError("refused", "a time in the ID token is not a number")
    ahead = max(times["iat"], times["nbf"]) - seconds
    if ahead > LEEWAY_SECONDS:
        raise SignInRefusedError(
            "refused", f"the provider's clock is {ahead:.0f} s ahead of ours, {LEEWAY_SECONDS} s at most may be"
        )
    if times["exp"] + LEEWAY_SECONDS <= seconds:
        raise SignInRefusedError("refused", f"the ID token ended {seconds - times['exp']:.0f} s ago by our clock")
    has_several_audiences = len(list_of(claims["aud"])) > 1
    if (has_several_audiences or "azp" in claims) and claims.get("azp") != client_id:
        raise SignInRefusedError("refused", ANOTHER_CLIENT)
    claimed_nonce = claims.get("nonce")
    if not isinstance(claimed_nonce, str) or not hmac.compare_digest(claimed_nonce.encode(), nonce.encode()):
        raise SignInRefusedError("refused", "the ID token belongs to another sign-in (nonce)")
    if not isinstance(claims["sub"], str) or not claims["sub"]:
        raise SignInRefusedError("refused", "the ID token names nobody")
    return claims


def account_of(claims: dict[str, object]) -> str:
    """Returns a digest that is the same for the same account at the same provider, and reveals neither."""
    digest = hashlib.sha256(f"{claims['iss']}\n{claims['sub']}".encode()).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def invited_member(team: Team, invitation: Invitation) -> Member:
    """Returns the member whose invitation this is; raises SignInRefusedError."""
    member = team.members.get(invitation.member)
    if member is None:
        raise SignInRefusedError("unknown")
    if member.joined_at is not None and member.joined_at >= invitation.issued_at:
        raise SignInRefusedError("used")
    return member


def member_for(team: Team, claims: dict[str, object], invitation: Invitation | None) -> str:
    """Returns the id of the team member with this account: its member so far, the invited one, or the one whose e-mail
    the provider has verified. An unverified e-mail is only what somebody has typed. Raises SignInRefusedError."""
    account = account_of(claims)
    if invitation is not None:
        invited_member(team, invitation)
        return invitation.member
    members_of_account = [user for user, member in team.members.items() if member.account == account]
    if members_of_account:
        # If there are several: the one whose invitation they used last.
        return max(
            members_of_account, key=lambda user: team.members[user].joined_at or datetime.min.replace(tzinfo=UTC)
        )
    email = claims.get("email")
    address = email.casefold() if isinstance(email, str) else None
    candidates = [
        user for user, member in team.members.items() if address and member.email and member.email.casefold() == address
    ]
    if len(candidates) != 1 or team.members[candidates[0]].account is not None:
        raise SignInRefusedError("unknown")
    # Some providers send it as a text.
    if claims.get("email_verified") not in (True, "true"):
        raise SignInRefusedError("unverified")
    return candidates[0]


def _address(document: dict[str, object], name: str) -> str:
    value = document.get(name)
    try:
        if isinstance(value, str) and len(value) <= 2048:
            return endpoint(value)
    except ValueError:
        pass
    raise SignInRefusedError("broken", f"the discovery document's {name} is not an https address")
