"""The base of all provider clients: one streamed reply with its limits, and the errors of agent.errors."""

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
from agent.domain.turn.journal import ModelAnswer, RequestedCall, TokenCount
from agent.errors import BadToolCallError, ModelDownError, ModelError, ModelRefusedError, ModelSilentError
from agent.ports import ModelRequest, TextSink
from contracts.events.tool import MAX_TOOL_NAME
from contracts.json_values import JsonObject, object_of
from contracts.providers import KEYED

log = structlog.get_logger(__name__)

CONNECT_SECONDS = 5.0
"""Seconds to connect."""
MAX_LINE_BYTES = 1024 * 1024
"""Longest line of a stream in bytes."""
MAX_REPLY_CHARS = 64 * 1024
"""Characters of one reply."""
MAX_CALLS = 16
"""Tool calls in one reply; more count as a malfunction."""
MAX_TOKENS = 10_000_000
"""Largest token count of a prompt or reply that is believed."""
MAX_ERROR_BYTES = 16_384
"""Bytes that are read of a response with an error status."""
MAX_REQUEST_CHANGES = 6
"""How often a request is changed and sent again for one reply."""


@dataclass(frozen=True)
class ProviderEndpoint:
    """A provider's address and key. `silence`: seconds without a byte after which the call is given up."""

    provider: str
    base_url: str
    api_key: str | None = field(repr=False)
    silence: float = 30.0


UNLIMITED_SILENCE = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)


@dataclass(slots=True)
class StreamedCall:
    """A tool call, as far as the stream has sent it."""

    model_id: str = ""
    name: str = ""
    initial_arguments: str = "{}"
    """The call's arguments as JSON, unless pieces of them follow."""
    pieces: list[str] = field(default_factory=list[str])

    def requested(self) -> RequestedCall:
        """Returns the complete call; raises BadToolCallError."""
        try:
            arguments = orjson.loads("".join(self.pieces).strip() or self.initial_arguments)
            arguments_json = orjson.dumps(arguments).decode()
        except (orjson.JSONDecodeError, orjson.JSONEncodeError) as error:
            raise BadToolCallError("the arguments of a tool call are no JSON, or nested too deep") from error
        if not isinstance(arguments, dict) or not 0 < len(self.name) <= MAX_TOOL_NAME:
            raise BadToolCallError("a tool call without a name that can be one, or with arguments that are no object")
        return RequestedCall(self.name, arguments_json, self.model_id)


class ProviderClient(ABC):
    """The client of one endpoint; raises the errors of agent.errors. It repeats a request only in a changed form: one
    that the model accepts, or for the model's successor (known_models.py)."""

    def __init__(
        self,
        endpoint: ProviderEndpoint,
        session: aiohttp.ClientSession,
        path: str,
        headers: Mapping[str, str],
        remedies: Sequence[Remedy],
    ) -> None:
        """`remedies`: changes of a refused request that may be tried."""
        self.provider = endpoint.provider
        self._session = session
        self._url = URL(f"{endpoint.base_url.rstrip('/')}/{path}")
        # The caller limits the whole reply; a total timeout here would only add a timer to each call.
        self._timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=endpoint.silence)
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **headers}
        provider_info = KEYED.get(endpoint.provider)
        self._models = KnownModels(
            remedies, provider_info.successor.name if provider_info and provider_info.successor else None
        )

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Streams one reply within the prompt's time limits.

        Raises:
            ModelBusyError, ModelDownError, ModelRefusedError, BadToolCallError.
        """
        try:
            async with asyncio.timeout(prompt.time_limit) as limit:
                limited_sink = (
                    sink
                    if prompt.total_time_limit is None
                    else _ExtendLimitOnText(sink, limit, prompt.total_time_limit)
                )
                return await self._ask(prompt, limited_sink)
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise ModelSilentError(f"{self.provider} said nothing in time") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            # The error's own text is left out: it may contain the request's address and headers.
            raise ModelDownError(f"{self.provider} cannot be reached ({type(error).__name__})") from error

    def url(self, request: JsonObject) -> URL:
        """Returns the address of a request."""
        return self._url

    async def _ask(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        known_before = known = self._models.of(prompt.model)
        for _ in range(MAX_REQUEST_CHANGES):
            answer, known = await self._attempt(prompt, known, sink)
            if answer is not None:
                if known != known_before:
                    self._models.learn(prompt.model, known)
                return answer
            log.warning("model.request_changed", provider=self.provider, model=prompt.model, known=known)
        raise ModelRefusedError(f"{self.provider} refused every form of the request")

    async def _attempt(
        self, prompt: ModelRequest, known: KnownModel, sink: TextSink
    ) -> tuple[ModelAnswer | None, KnownModel]:
        """Makes one request; returns the reply and what is now known of the model. The reply is None if the request was
        refused for a reason that is new and changes the request."""
        body = self._models.request(known, self.request(prompt, known))
        async with self._session.post(
            self.url(body),
            data=orjson.dumps(body),
            headers=self._headers,
            timeout=UNLIMITED_SILENCE if prompt.ignore_silence else self._timeout,
            allow_redirects=False,
        ) as response:
            if response.status != 200:
                error = error_in(await response.content.read(MAX_ERROR_BYTES))
                updated = self._models.learned_from(known, body, response.status, error)
                if updated is None:
                    raise self.refusal(response.status, response.headers.get("Retry-After"), error)
                return None, updated
            if prompt.model != known.name:
                prompt = replace(prompt, model=known.name)
            answer, has_thought = await self.read(response, prompt, sink)
        is_all_thought = answer.cut and not answer.text.strip() and not answer.calls
        known_now = replace(known, thinks=known.thinks or has_thought or is_all_thought)
        if is_all_thought and not known.thinks:
            return None, known_now
        if not answer.text.strip() and not answer.calls:
            raise ModelDownError(f"{self.provider} gave an empty reply")
        return answer, known_now

    @abstractmethod
    def request(self, prompt: ModelRequest, known: KnownModel) -> JsonObject:
        """Returns the request's body, before the remedies."""

    @abstractmethod
    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        """Reads the response and passes its text to the sink as it arrives; returns the reply, and whether the model
        thought before it answered."""

    @abstractmethod
    def refusal(self, status: int, retry_after: str | None, error: JsonObject) -> ModelError:
        """Returns the error for a response with an error status. It must not contain texts of `error` (from the body),
        which may quote the request."""


class _ExtendLimitOnText:
    """A sink that extends the time limit to `total_time_limit` seconds with the first text, so that a reply which
    people already read is not restarted because the model is slow."""

    __slots__ = ("_end", "_limit", "_sink")

    def __init__(self, sink: TextSink, limit: asyncio.Timeout, total_time_limit: float) -> None:
        self._sink = sink
        self._limit: asyncio.Timeout | None = limit
        self._end = asyncio.get_running_loop().time() + total_time_limit

    def text(self, piece: str) -> None:
        if self._limit is not None:
            self._limit.reschedule(self._end)
            self._limit = None
        self._sink.text(piece)

    def restart(self) -> None:
        self._sink.restart()


@dataclass(slots=True)
class StreamedReply:
    """The content of a reply that a stream has sent so far. `sink` gets its text."""

    provider: str
    sink: TextSink
    text: list[str] = field(default_factory=list[str])
    calls: dict[int, StreamedCall] = field(default_factory=dict[int, StreamedCall])
    """The tool calls by their index in the stream."""
    usage: TokenCount = field(default_factory=TokenCount)
    length: int = 0
    model: str = ""
    finished: bool = False
    cut: bool = False
    thought: bool = False
    incomplete_line: bytes = b""

    def lines(self, chunk: bytes) -> list[bytes]:
        """Returns the lines that this chunk completes; raises ModelDownError for a line without end."""
        lines = (self.incomplete_line + chunk).split(b"\n")
        self.incomplete_line = lines.pop()
        if len(self.incomplete_line) > MAX_LINE_BYTES:
            raise ModelDownError(f"{self.provider} sent a line without end")
        return lines

    def count_text(self, piece: str) -> None:
        """Counts a piece of the text; raises ModelDownError if the reply is too long."""
        self.length += len(piece)
        if self.length > MAX_REPLY_CHARS:
            raise ModelDownError(f"{self.provider} does not stop talking")

    def count_arguments(self, piece: str) -> None:
        """Counts a piece of a call's arguments; raises BadToolCallError if the reply is too long."""
        self.length += len(piece)
        if self.length > MAX_REPLY_CHARS:
            raise BadToolCallError(f"{self.provider} asked for a call without end")

    def add_call(self, index: int, call: StreamedCall) -> StreamedCall:
        """Adds a call and returns it; raises BadToolCallError if there are too many."""
        self.calls[index] = call
        if len(self.calls) > MAX_CALLS:
            raise BadToolCallError(f"{self.provider} asked for more than {MAX_CALLS} tools at once")
        return call

    def answer(self, requested_model: str) -> ModelAnswer:
        """Returns the complete reply; raises BadToolCallError."""
        return ModelAnswer(
            text="".join(self.text),
            calls=tuple(call.requested() for _, call in sorted(self.calls.items())),
            usage=self.usage,
            model=self.model or requested_model,
            provider=self.provider,
            cut=self.cut,
        )

    def require_end(self) -> None:
        """Raises ModelDownError unless the reply has finished."""
        if not self.finished:
            raise ModelDownError(f"{self.provider} broke off in mid-answer")


@contextmanager
def ignore_errors_after_end(stream: StreamedReply) -> Generator[None]:
    """Ignores connection errors after the reply has finished, because it is complete then."""
    try:
        yield
    except aiohttp.ClientError:
        if not stream.finished:
            raise


def error_in(body: bytes) -> JsonObject:
    """Returns the object `error` of a response, or the whole response if it has none. Its `code`, `type` and `param`
    are converted to texts."""
    try:
        response = object_of(orjson.loads(body))
    except orjson.JSONDecodeError:
        return {}
    error = object_of(response.get("error")) or response
    return error | {name: str(error[name]) for name in ("code", "type", "param") if error.get(name) is not None}


def text_in(value: object) -> str:
    """Returns a text field of a reply, "" for None; raises TypeError for any other type."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(f"a text is wanted, not a {type(value).__name__}")


def tokens_in(value: object) -> int:
    """Returns a provider's token count, limited to MAX_TOKENS because people pay for it."""
    return min(max(int(value), 0), MAX_TOKENS) if isinstance(value, int | float | str) else 0
