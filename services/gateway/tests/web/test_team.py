"""/v2/team and /v2/sign-in: people come into the console, and whoever has left is out, their open lines too."""

from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest
from nats.aio.client import Client

from contracts import sign_in_rpc
from contracts.channels import fact
from contracts.company import CompanySettings
from contracts.sign_in_rpc import SIGN_IN_BEGIN, SIGN_IN_FINISH, Problem, SignedIn
from gateway.adapters.companies import BusCompanies
from gateway.adapters.identity import IdentityKeys
from gateway.chat.admission import Admission
from gateway.errors import UnavailableError
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, run_gateway
from gateway.testing.http import Http, assert_problem
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer
from runtime.companies import COMPANY_CHANGED
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("settings")
TAB = {"companyId": "acme", "state": "s" * 20, "nonce": "n" * 20}
BACK = {"companyId": "acme", "code": "c", "verifier": "v" * 43, "nonce": "n" * 20}


@pytest.fixture
def admin(tokens: TokenMaker) -> str:
    return tokens.user("root", "admin")


async def invited(http: Http, admin: str, **body: Any) -> tuple[dict[str, Any], str]:
    """A new member, and their invitation."""
    status, made, _ = await http("POST", "/v2/team", token=admin, json=body)
    assert status == 201, made
    return made["member"], made["link"].partition("#invite=")[2]


@pytest.fixture
async def signing(nats_client: Client) -> dict[str, Any]:
    """Memory's side of signing in: who it says has signed in, or why nobody has."""
    said: dict[str, Any] = {}

    async def begin(request: sign_in_rpc.SignInBegin) -> sign_in_rpc.SignInBegun:
        said["begun"] = request
        return sign_in_rpc.SignInBegun(address="https://id.example/authorize?x=1", problem=said.get("problem"))

    async def finish(request: sign_in_rpc.SignInFinish) -> sign_in_rpc.SignInFinished:
        said["finished"] = request
        problem = said.get("problem")
        return sign_in_rpc.SignInFinished(signed_in=None if problem else said["who"], problem=problem)

    server = RpcServer(nats_client)
    await server.serve(SIGN_IN_BEGIN, begin)
    await server.serve(SIGN_IN_FINISH, finish)
    await nats_client.flush()
    return said


async def signed_in(http: Http, signing: dict[str, Any], invitation: str, member: dict[str, Any]) -> str:
    signing["who"] = SignedIn(member=member["userId"], role=member["role"], name=member.get("name"))
    status, made, _ = await http("POST", "/v2/sign-in", json={"invitation": invitation})
    assert (status, made["companyId"]) == (201, "acme"), made
    return made["token"]


async def test_who_is_invited_signs_in_and_whoever_leaves_is_out_with_their_open_lines(
    gateway: GatewayUnderTest, http: Http, admin: str, signing: dict[str, Any]
) -> None:
    member, invitation = await invited(http, admin, role="commercial", name="Bea", email="bea@acme.example")
    assert_problem(await http("GET", "/v2/conversations", token=invitation), 401, "UNAUTHORIZED")
    bea = await signed_in(http, signing, invitation, member)
    assert signing["finished"].invitation.member == member["userId"]
    assert (await http("GET", "/v2/conversations", token=bea))[0] == 200
    assert_problem(await http("GET", "/v2/team", token=bea), 403, "FORBIDDEN")
    listed = (await http("GET", "/v2/team", token=admin))[1]
    assert (listed["members"], listed["redirectUri"]) == ([member], f"{gateway.url}/console")
    secure = gateway.url.replace("http://", "https://")
    path = f"/v2/team/{member['userId']}/invitation"
    for origin, own in ((secure, secure), ("https://evil.example", gateway.url)):
        again = (await http("POST", path, token=admin, headers={"Origin": origin}))[1]
        assert again["link"].startswith(f"{own}/console#invite=")
    same = {"email": "BEA@acme.example"}
    assert_problem(await http("POST", "/v2/team", token=admin, json=same), 409, "CONFLICT")

    async with ChatClient(gateway.url, hello=bea) as hers, ChatClient(gateway.url) as admins:
        await admins.hello(admin)
        assert (await http("DELETE", f"/v2/team/{member['userId']}", token=admin))[0] == 204
        assert await hers.closed() == 4500
        assert_problem(await http("GET", "/v2/conversations", token=bea), 401, "UNAUTHORIZED")
        async with ChatClient(gateway.url) as again:
            await again.send("hello", token=bea)
            assert await again.closed() == 4500
        await admins.send("ping")
        await admins.until("pong")
    assert_problem(await http("DELETE", f"/v2/team/{member['userId']}", token=admin), 404, "NOT_FOUND")


async def test_another_role_ends_the_sessions_with_the_old_one(http: Http, admin: str, signing: dict[str, Any]) -> None:
    member, invitation = await invited(http, admin, role="admin")
    boss = await signed_in(http, signing, invitation, member)
    path = f"/v2/team/{member['userId']}"
    status, changed, _ = await http("PATCH", path, token=admin, json={"role": "commercial"})
    assert (status, changed["role"]) == (200, "commercial")
    assert_problem(await http("GET", "/v2/team", token=boss), 401, "UNAUTHORIZED")
    again = await signed_in(http, signing, invitation, changed)
    assert (await http("GET", "/v2/conversations", token=again))[0] == 200
    assert_problem(await http("PATCH", path, token=admin, json={"role": "operator"}), 422, "BAD_FIELD")


async def test_signing_out_everywhere_ends_every_token_from_before_whoever_signed_it(
    nats_server: NatsServer,
    nats_client: Client,
    gateway: GatewayUnderTest,
    identity: IdentityKeys,
    memory: MemoryStandIn,
    http: Http,
    tokens: TokenMaker,
    signing: dict[str, Any],
    admin: str,
) -> None:
    member, invitation = await invited(http, admin, role="commercial")
    elena = tokens.user("elena", "commercial")
    async with run_gateway(nats_server.url, identity) as other, ChatClient(other.url, hello=elena) as elsewhere:
        async with ChatClient(gateway.url, hello=elena) as here:
            assert_problem(await http("POST", f"/v2/team/{member['userId']}/sign-out", token=elena), 403, "FORBIDDEN")
            assert (await http("POST", "/v2/team/me/sign-out", token=elena))[0] == 204
            assert await here.closed() == 4500
        # The other gateway hears of it by the fact that memory tells.
        await told(nats_client, memory.companies["acme"])
        assert await elsewhere.closed() == 4500
    assert_problem(await http("GET", "/v2/conversations", token=elena), 401, "UNAUTHORIZED")
    # Who was only signed out may sign in again.
    bea = await signed_in(http, signing, invitation, member)
    assert (await http("POST", f"/v2/team/{member['userId']}/sign-out", token=admin))[0] == 204
    assert (await http("GET", "/v2/conversations", token=bea))[0] == 401
    bea = await signed_in(http, signing, invitation, member)
    assert (await http("GET", "/v2/conversations", token=bea))[0] == 200


async def test_a_change_that_came_while_the_bus_was_away_is_looked_for(
    nats_server: NatsServer, identity: IdentityKeys, memory: MemoryStandIn, tokens: TokenMaker
) -> None:
    elena = tokens.user("elena", "commercial")
    async with run_gateway(nats_server.url, identity) as running, ChatClient(running.url, hello=elena) as hers:
        out = {"signedOut": {"elena": datetime.now(UTC).isoformat()}}
        memory.add_company("acme", team=out)
        memory.companies["acme"] = memory.companies["acme"].model_copy(update={"version": 2})
        for back in running.hooks.on_reconnect:
            await back()
        assert await hers.closed() == 4500


async def told(client: Client, settings: CompanySettings) -> None:
    body = orjson.dumps({"data": settings.to_wire()})
    await client.publish(fact(COMPANY_CHANGED, "acme", None), body)
    await client.flush()


async def test_a_sign_in_is_begun_and_ended_with_what_the_tab_has_made(
    gateway: GatewayUnderTest, http: Http, signing: dict[str, Any]
) -> None:
    challenge = "c" * 43
    status, begun, _ = await http("POST", "/v2/sign-in/start", json={**TAB, "challenge": challenge})
    assert (status, begun) == (200, {"address": "https://id.example/authorize?x=1"})
    assert signing["begun"].redirect_uri == f"{gateway.url}/console"
    # Behind a proxy the browser alone knows the scheme; another site is never a place to come back to.
    secure = gateway.url.replace("http://", "https://")
    for origin, own in ((secure, secure), ("https://evil.example", gateway.url), ("null", gateway.url)):
        await http("POST", "/v2/sign-in/start", json={**TAB, "challenge": challenge}, headers={"Origin": origin})
        assert signing["begun"].redirect_uri == f"{own}/console"

    for problem, code, words in (
        (Problem(reason="away", detail="it sleeps"), 503, "no responde"),
        (Problem(reason="unknown"), 403, "No formas parte"),
        (Problem(reason="refused", detail="clock is 90 s ahead"), 403, "clock is 90 s ahead"),
    ):
        signing["problem"] = problem
        for path, body in (("/start", {**TAB, "challenge": challenge}), ("", BACK)):
            status, said, _ = await http("POST", f"/v2/sign-in{path}", json=body, headers={"Accept-Language": "es"})
            assert (status, words in said["detail"]) == (code, True), said
    for wrong in ({"code": "c", "companyId": "acme"}, {"companyId": "acme"}, {"code": "c", "nonce": "n" * 20}):
        assert_problem(await http("POST", "/v2/sign-in", json=wrong), 422, "BAD_FIELD")
    assert_problem(await http("POST", "/v2/sign-in", json={"invitation": "x.y.z"}), 401, "UNAUTHORIZED")


class _Away:
    """Companies that nobody can look up."""

    async def get(self, company: str) -> None:
        raise UnavailableError(company)

    def cached(self, company: str) -> None:
        return None


async def test_where_a_company_cannot_be_looked_up_its_members_wait_and_who_others_vouch_for_do_not(
    identity: IdentityKeys, tokens: TokenMaker
) -> None:
    admission = Admission(identity.tokens, cast("BusCompanies", _Away()), [])
    with pytest.raises(UnavailableError):
        await admission.verify(identity.console.make("acme", "bea", "commercial", None).token)
    assert (await admission.verify(tokens.user("elena", "commercial"))).subject == "elena"
