"""Makes HTTP requests to addresses that companies set, which must be public (or, in development, on this machine)."""

import asyncio

import aiohttp
from yarl import URL

from memory.domain.webhooks import EndpointAnswer
from runtime.http.guarded_http import AddressNotAllowedError, Lookup, guarded_session, is_loopback, system_lookup
from runtime.http.public_address import is_public
from runtime.http.retry_after import seconds_in

MAX_REPLY_BYTES = 16 * 1024
"""Bytes of a response's body that `post` reads, only so that the connection can be reused."""
_HEADERS = {
    "User-Agent": "Nexus-Webhooks/1.0",
    "Content-Type": "application/cloudevents+json; charset=utf-8",
    "Accept": "*/*",
}


class WebhookPosting:
    """Makes requests within `seconds`. `local`: this machine is allowed too, and without TLS."""

    def __init__(self, *, seconds: float, local: bool, lookup: Lookup = system_lookup) -> None:
        self._local = local
        self._seconds = seconds
        self._session = guarded_session(
            self._is_allowed, seconds=seconds, headers=_HEADERS, lookup=lookup, connections=512, connections_per_host=8
        )

    async def close(self) -> None:
        await self._session.close()

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> EndpointAnswer:
        """Posts a body; never raises for failures of the endpoint or the network."""
        return (await self.ask("POST", url, headers, body, MAX_REPLY_BYTES))[0]

    async def ask(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, max_bytes: int
    ) -> tuple[EndpointAnswer, bytes]:
        """Makes any request, and returns a little more than `max_bytes` of the response at most; never raises
        either."""
        try:
            address = URL(url)
        except ValueError:
            return EndpointAnswer(0, "is no address that can be read in one way only", forbidden=True), b""
        if address.scheme != "https" and not (self._local and address.scheme == "http"):
            return EndpointAnswer(0, "is not an https address", forbidden=True), b""
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._session.request(method, address, headers=headers, data=body, allow_redirects=False) as response,
            ):
                content = bytearray()
                async for chunk in response.content.iter_any():
                    content += chunk
                    if len(content) > max_bytes:
                        response.close()
                        break
                retry_after = seconds_in(response.headers.get("Retry-After"))
                return EndpointAnswer(response.status, retry_after=retry_after), bytes(content)
        except AddressNotAllowedError:
            return EndpointAnswer(0, "leads to an address that is not on the public Internet", forbidden=True), b""
        except TimeoutError:
            return EndpointAnswer(0, f"did not answer within {self._seconds:g} s"), b""
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return EndpointAnswer(0, f"could not be reached ({error.__class__.__name__})"), b""

    def _is_allowed(self, address: str) -> bool:
        return is_public(address) or (self._local and is_loopback(address))
