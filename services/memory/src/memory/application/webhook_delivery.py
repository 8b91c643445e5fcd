"""Delivers facts to endpoints: signed, in order for each conversation, and retried until one arrives or expires."""

import json
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import structlog

from contracts.channels import parse_webhook_delivery
from memory.adapters.webhook_client import WebhookPosting
from memory.adapters.webhook_table import WebhookTable
from memory.application.channel_delivery import ChannelDelivery
from memory.application.webhook_lanes import Lanes
from memory.domain.webhooks import EndpointAnswer, WebhookEndpoint, pause_after, signed_headers
from memory.metrics import WEBHOOKS
from runtime.workers.deliveries import Delivery
from runtime.workers.outcomes import Ack, DeadLetter, Outcome, Retry

_log = structlog.get_logger(__name__)

GONE = 410


class Deliveries:
    """Delivers events to webhooks; there is one for the process. `gone` is called for endpoints that want nothing
    more."""

    def __init__(
        self,
        table: WebhookTable,
        posting: WebhookPosting,
        channels: ChannelDelivery,
        *,
        give_up: float,
        gone: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._table = table
        self._posting = posting
        self._channels = channels
        self._give_up = give_up
        self._gone = gone
        self._lanes = Lanes()

    async def deliver(self, waiting: Delivery) -> Outcome:
        """Delivers one fact to one endpoint, or says when to try again."""
        address = parse_webhook_delivery(waiting.subject)
        if address is None:
            return DeadLetter("the subject names no company and endpoint")
        endpoint = self._table.find(*address)
        if endpoint is None:
            # It was taken out of the settings since.
            self._lanes.forget(address[1])
            return self._counted("dropped", Ack())
        event = json.loads(waiting.data)
        event_id, about = str(event["id"]), str(event.get("subject", ""))
        lane = self._lanes.of(endpoint.id)
        put_off = self._put_off(endpoint, waiting, about)
        if put_off is not None:
            return put_off
        async with lane.place(about):
            # While it waited for its turn the endpoint may have failed.
            put_off = self._put_off(endpoint, waiting, about) if lane.failures else None
            if put_off is not None:
                return put_off
            now = time.time()
            if endpoint.channel is not None:
                again = waiting.num_delivered > 1
                answer = await self._channels.deliver(endpoint.channel, event, waiting.stored_at, again=again)
            else:
                headers = signed_headers(endpoint.hook.secret, event_id, int(now), waiting.data)
                answer = await self._posting.post(endpoint.hook.url, headers, waiting.data)
            lane.took(time.time() - now)
            if 200 <= answer.status < 300:
                lane.succeeded()
                return self._counted("delivered", Ack())
            return await self._refused(endpoint, answer, waiting, about)

    def _put_off(self, endpoint: WebhookEndpoint, waiting: Delivery, about: str) -> Outcome | None:
        """What to do with a fact that must not be sent now; None: it may be sent."""
        lane, now = self._lanes.of(endpoint.id), time.time()
        wait = lane.wait(now, about, waiting.seq)
        if wait > 0 and lane.failures and now - waiting.stored_at > self._give_up:
            return self._counted("given_up", DeadLetter(f"{_host(endpoint)} has not worked for too long"))
        return Retry(wait) if wait > 0 else None

    async def _refused(
        self, endpoint: WebhookEndpoint, answer: EndpointAnswer, waiting: Delivery, about: str
    ) -> Outcome:
        said = answer.problem or f"answered {answer.status}"
        if answer.status == GONE and endpoint.channel is None:
            await self._gone(endpoint.company, endpoint.hook.url)
            return self._counted("gone", DeadLetter(f"{_host(endpoint)} {said}: it is switched off (goneAt)"))
        if answer.forbidden:
            return self._counted("forbidden", DeadLetter(f"{_host(endpoint)} {said}"))
        lane, now = self._lanes.of(endpoint.id), time.time()
        age = now - waiting.stored_at
        pause = max(pause_after(age), answer.retry_after or 0.0)
        if age > self._give_up:
            return self._counted("given_up", DeadLetter(f"{_host(endpoint)} {said}, for too long"))
        if answer.status in {0, 401, 408, 429} or answer.status >= 500:
            # The endpoint failed, not the fact: its other facts would fail too, and later ones do not overtake this.
            lane.failed(now, answer.retry_after)
            pause = lane.wait(now, about, waiting.seq)
        _log.info("webhook.failed", company=endpoint.company, host=_host(endpoint), said=said, again_in=round(pause, 1))
        return self._counted("failed", Retry(pause))

    def _counted(self, outcome: str, result: Outcome) -> Outcome:
        WEBHOOKS.labels(outcome).inc()
        return result


def _host(endpoint: WebhookEndpoint) -> str:
    """Only the host of an address: paths and queries may be secret."""
    return urlsplit(endpoint.hook.url).hostname or "the endpoint"
