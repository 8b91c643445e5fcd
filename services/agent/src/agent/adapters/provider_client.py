"""The part that the clients of all providers share: one streamed reply with its limits, and the errors of
agent.errors."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp
import orjson
from yarl import URL

from agent.domain.turn.journal import ModelAnswer, RequestedCall
from agent.errors import BadToolCallError, ModelDownError, ModelError, ModelSilentError
from agent.ports import ModelRequest, TextSink
from contracts.events.tool import MAX_TOOL_NAME
from contracts.json_values import JsonObject, object_of

CONNECT_LIMIT = 5.0
"""Seconds to connect."""
MAX_LINE = 1024 * 1024
"""Bytes of one line of the stream; a server that never ends one is cut off."""
MAX_TEXT = 64 * 1024
"""Characters of one reply."""
MAX_CALLS = 16
"""Tool calls in one reply; more are a malfunction."""
MAX_TOKENS = 10_000_000
"""Tokens of one call's prompt or reply that are believed."""
MAX_REFUSAL = 16_384
"""Bytes that are read of an answer that is not 200."""


@dataclass(frozen=True)
class ProviderEndpoint:
    """A provider's address and key. `silence`: seconds without a byte after which the call is given up."""

    provider: str
    base_url: str
    api_key: str | None = field(repr=False)
    silence: float = 30.0


PATIENT = aiohttp.ClientTimeout(total=None, connect=CONNECT_LIMIT)


@dataclass(slots=True)
class StreamedCall:
    """A tool call, as far as the stream has said it."""

    model_id: str = ""
    name: str = ""
    begun: str = "{}"
    """The call's arguments, if no pieces of them follow."""
    pieces: list[str] = field(default_factory=list[str])

    def requested(self) -> RequestedCall:
        """The whole call; raises BadToolCallError."""
        try:
            arguments = orjson.loads("".join(self.pieces).strip() or self.begun)
            written = orjson.dumps(arguments).decode()
        except (orjson.JSONDecodeError, orjson.JSONEncodeError) as error:
            raise BadToolCallError("the arguments of a tool call are no JSON, or nested too deep") from error
        if not isinstance(arguments, dict) or not 0 < len(self.name) <= MAX_TOOL_NAME:
            raise BadToolCallError("a tool call without a name that can be one, or with arguments that are no object")
        return RequestedCall(self.name, written, self.model_id)


class ProviderClient(ABC):
    """The client of one endpoint. It raises the errors of agent.errors and makes no second attempt."""

    def __init__(
        self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession, path: str, headers: Mapping[str, str]
    ) -> None:
        self.provider = endpoint.provider
        self._session = session
        self._url = URL(f"{endpoint.base_url.rstrip('/')}/{path}")
        # The whole reply's limit is the caller's; a second one here would be one more timer for each call.
        self._timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_LIMIT, sock_read=endpoint.silence)
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **headers}

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Streams one reply within the prompt's time limit.

        Raises:
            ModelBusyError, ModelDownError, ModelRefusedError, BadToolCallError.
        """
        try:
            async with asyncio.timeout(prompt.time_limit):
                return await self._ask(prompt, sink)
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise ModelSilentError(f"{self.provider} said nothing in time") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            # Not the error's own text: it can hold the request's address and headers.
            raise ModelDownError(f"{self.provider} cannot be reached ({type(error).__name__})") from error

    async def _ask(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        async with self._session.post(
            self._url,
            data=orjson.dumps(self.request(prompt)),
            headers=self._headers,
            timeout=PATIENT if prompt.patient else self._timeout,
            allow_redirects=False,
        ) as response:
            if response.status != 200:
                body = await response.content.read(MAX_REFUSAL)
                raise self.refusal(response.status, response.headers.get("Retry-After"), error_in(body))
            answer = await self.read(response, prompt.model, sink)
        if not answer.text.strip() and not answer.calls:
            raise ModelDownError(f"{self.provider} gave an empty reply")
        return answer

    @abstractmethod
    def request(self, prompt: ModelRequest) -> JsonObject:
        """The request's body."""

    @abstractmethod
    async def read(self, response: aiohttp.ClientResponse, model: str, sink: TextSink) -> ModelAnswer:
        """Reads the response; its text goes into the sink as it arrives."""

    @abstractmethod
    def refusal(self, status: int, retry_after: str | None, error: JsonObject) -> ModelError:
        """The error of an answer that is not 200; the texts of `error`, the body's, stay out of it: they may quote the
        request."""


@dataclass(slots=True)
class StreamedReply:
    """The content that a provider's stream has returned so far."""

    text: list[str] = field(default_factory=list[str])
    length: int = 0
    model: str = ""
    finished: bool = False
    cut: bool = False


@contextmanager
def whole_once_finished(stream: StreamedReply) -> Generator[None]:
    """A reply that has finished is complete, whatever happens to its connection afterwards."""
    try:
        yield
    except aiohttp.ClientError:
        if not stream.finished:
            raise


def error_in(body: bytes) -> JsonObject:
    """The object `error` of a response; empty if there is none."""
    try:
        return object_of(object_of(orjson.loads(body)).get("error"))
    except orjson.JSONDecodeError:
        return {}


def text_in(value: object) -> str:
    """A text of a reply; raises TypeError where a provider sends anything else in its place."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(f"a text is wanted, not a {type(value).__name__}")


def tokens_in(value: object) -> int:
    """A token count from a provider, limited to what one call can use, because people pay for it."""
    return min(max(int(value), 0), MAX_TOKENS) if isinstance(value, int | float | str) else 0
