"""The part that the clients of all providers share: one streamed reply with its limits, and the errors of
agent.errors."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import aiohttp
import orjson
import structlog
from yarl import URL

from agent.adapters.known_models import KnownModel, KnownModels, Remedy
from agent.domain.turn.journal import ModelAnswer, RequestedCall
from agent.errors import BadToolCallError, ModelDownError, ModelError, ModelRefusedError, ModelSilentError
from agent.ports import ModelRequest, TextSink
from contracts.events.tool import MAX_TOOL_NAME
from contracts.json_values import JsonObject, object_of
from contracts.providers import KEYED

log = structlog.get_logger(__name__)

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
MOST_CHANGES = 6
"""Requests that are changed and sent again, for one reply."""


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
    """The client of one endpoint. It raises the errors of agent.errors. It makes a second attempt only with another
    request: one that the model takes, or for the model that took its place (known_models.py)."""

    def __init__(
        self,
        endpoint: ProviderEndpoint,
        session: aiohttp.ClientSession,
        path: str,
        headers: Mapping[str, str],
        remedies: Sequence[Remedy],
    ) -> None:
        """`remedies`: what may be tried after a refusal."""
        self.provider = endpoint.provider
        self._session = session
        self._url = URL(f"{endpoint.base_url.rstrip('/')}/{path}")
        # The whole reply's limit is the caller's; a second one here would be one more timer for each call.
        self._timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_LIMIT, sock_read=endpoint.silence)
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **headers}
        row = KEYED.get(endpoint.provider)
        self._models = KnownModels(remedies, row.successor.name if row and row.successor else None)

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Streams one reply within the prompt's time limits.

        Raises:
            ModelBusyError, ModelDownError, ModelRefusedError, BadToolCallError.
        """
        try:
            async with asyncio.timeout(prompt.time_limit) as limit:
                longer = sink if prompt.longest is None else _LongerOnceBegun(sink, limit, prompt.longest)
                return await self._ask(prompt, longer)
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise ModelSilentError(f"{self.provider} said nothing in time") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            # Not the error's own text: it can hold the request's address and headers.
            raise ModelDownError(f"{self.provider} cannot be reached ({type(error).__name__})") from error

    def url(self, request: JsonObject) -> URL:
        """Where a request is sent."""
        return self._url

    async def _ask(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        before = known = self._models.of(prompt.model)
        for _ in range(MOST_CHANGES):
            answer, known = await self._attempt(prompt, known, sink)
            if answer is not None:
                if known != before:
                    self._models.learn(prompt.model, known)
                return answer
            log.warning("model.request_changed", provider=self.provider, model=prompt.model, known=known)
        raise ModelRefusedError(f"{self.provider} refused every form of the request")

    async def _attempt(
        self, prompt: ModelRequest, known: KnownModel, sink: TextSink
    ) -> tuple[ModelAnswer | None, KnownModel]:
        """The reply, and what is known of the model after it; no reply if that was not known and changes the
        request."""
        body = self._models.request(known, self.request(prompt, known))
        async with self._session.post(
            self.url(body),
            data=orjson.dumps(body),
            headers=self._headers,
            timeout=PATIENT if prompt.patient else self._timeout,
            allow_redirects=False,
        ) as response:
            if response.status != 200:
                error = error_in(await response.content.read(MAX_REFUSAL))
                taught = self._models.learned_from(known, body, response.status, error)
                if taught is None:
                    raise self.refusal(response.status, response.headers.get("Retry-After"), error)
                return None, taught
            if prompt.model != known.name:
                prompt = replace(prompt, model=known.name)
            answer, thought = await self.read(response, prompt, sink)
        all_thought = answer.cut and not answer.text.strip() and not answer.calls
        thinking = replace(known, thinks=known.thinks or thought or all_thought)
        if all_thought and not known.thinks:
            return None, thinking
        if not answer.text.strip() and not answer.calls:
            raise ModelDownError(f"{self.provider} gave an empty reply")
        return answer, thinking

    @abstractmethod
    def request(self, prompt: ModelRequest, known: KnownModel) -> JsonObject:
        """The request's body, before the remedies."""

    @abstractmethod
    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        """Reads the response to a prompt, and whether the model thought before it answered. The text goes into the sink
        as it arrives."""

    @abstractmethod
    def refusal(self, status: int, retry_after: str | None, error: JsonObject) -> ModelError:
        """The error of an answer that is not 200; the texts of `error`, the body's, stay out of it: they may quote the
        request."""


class _LongerOnceBegun:
    """A reply's text, with which its time limit becomes `longest` seconds: what people are reading already is not begun
    anew because a model is slow."""

    __slots__ = ("_end", "_limit", "_sink")

    def __init__(self, sink: TextSink, limit: asyncio.Timeout, longest: float) -> None:
        self._sink = sink
        self._limit: asyncio.Timeout | None = limit
        self._end = asyncio.get_running_loop().time() + longest

    def text(self, piece: str) -> None:
        if self._limit is not None:
            self._limit.reschedule(self._end)
            self._limit = None
        self._sink.text(piece)

    def restart(self) -> None:
        self._sink.restart()


@dataclass(slots=True)
class StreamedReply:
    """The content that a provider's stream has returned so far."""

    text: list[str] = field(default_factory=list[str])
    length: int = 0
    model: str = ""
    finished: bool = False
    cut: bool = False
    thought: bool = False


@contextmanager
def whole_once_finished(stream: StreamedReply) -> Generator[None]:
    """A reply that has finished is complete, whatever happens to its connection afterwards."""
    try:
        yield
    except aiohttp.ClientError:
        if not stream.finished:
            raise


def error_in(body: bytes) -> JsonObject:
    """The object `error` of a response, or else the whole response: some servers have no such object. Its `code`,
    `type` and `param` are texts."""
    try:
        whole = object_of(orjson.loads(body))
    except orjson.JSONDecodeError:
        return {}
    error = object_of(whole.get("error")) or whole
    return error | {name: str(error[name]) for name in ("code", "type", "param") if error.get(name) is not None}


def text_in(value: object) -> str:
    """A text of a reply; raises TypeError where a provider sends anything else in its place."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(f"a text is wanted, not a {type(value).__name__}")


def tokens_in(value: object) -> int:
    """A token count from a provider, limited to what one call can use, because people pay for it."""
    return min(max(int(value), 0), MAX_TOKENS) if isinstance(value, int | float | str) else 0
