"""HTTP requests to addresses set by companies, which must be public (or, in development, on this machine)."""

import asyncio

import aiohttp
from yarl import URL

from memory.domain.webhooks import EndpointAnswer
from runtime.http.guarded_http import AddressNotAllowedError, Lookup, guarded_session, is_loopback, system_lookup
from runtime.http.public_address import is_public
from runtime.http.retry_after import seconds_in

MOST_BYTES = 16 * 1024
"""Bytes of a response's body that are read, only so that the connection can be reused."""
_HEADERS = {
    "User-Agent": "Nexus-Webhooks/1.0",
    "Content-Type": "application/cloudevents+json; charset=utf-8",
    "Accept": "*/*",
}


class WebhookPosting:
    """`local`: this machine is allowed too, and without TLS."""

    def __init__(self, *, seconds: float, local: bool, lookup: Lookup = system_lookup) -> None:
        self._local = local
        self._seconds = seconds
        self._session = guarded_session(
            self._accepts, seconds=seconds, headers=_HEADERS, lookup=lookup, connections=512, connections_per_host=8
        )

    async def close(self) -> None:
        await self._session.close()

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> EndpointAnswer:
        """Makes one request; never raises for failures of the endpoint or the network."""
        return (await self.ask("POST", url, headers, body, MOST_BYTES))[0]

    async def ask(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, most: int
    ) -> tuple[EndpointAnswer, bytes]:
        """The same for any request; returns up to `most` bytes of the response."""
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
                said = bytearray()
                async for piece in response.content.iter_any():
                    said += piece
                    if len(said) > most:
                        response.close()
                        break
                retry_after = seconds_in(response.headers.get("Retry-After"))
                return EndpointAnswer(response.status, retry_after=retry_after), bytes(said)
        except AddressNotAllowedError:
            return EndpointAnswer(0, "leads to an address that is not on the public Internet", forbidden=True), b""
        except TimeoutError:
            return EndpointAnswer(0, f"did not answer within {self._seconds:g} s"), b""
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return EndpointAnswer(0, f"could not be reached ({error.__class__.__name__})"), b""

    def _accepts(self, address: str) -> bool:
        return is_public(address) or (self._local and is_loopback(address))
