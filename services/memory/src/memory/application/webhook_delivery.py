"""Delivers facts to endpoints: signed, in order for each conversation, retried until they arrive or expire."""

import json
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import structlog

from contracts.channels import parse_webhook_delivery
from memory.adapters.webhook_client import WebhookPosting
from memory.adapters.webhook_table import WebhookTable
from memory.application.channel_delivery import ChannelDelivery
from memory.application.webhook_lanes import Lane
from memory.domain.webhooks import EndpointAnswer, WebhookEndpoint, pause_after, signed_headers
from memory.metrics import WEBHOOKS
from runtime.workers.deliveries import Delivery
from runtime.workers.outcomes import Ack, DeadLetter, Outcome, Retry

_log = structlog.get_logger(__name__)

HTTP_GONE = 410


@dataclass(slots=True)
class Deliveries:
    """Delivers events to webhooks; one instance per process. `gone` is called with the company and URL of an endpoint
    that answers 410 Gone."""

    table: WebhookTable
    posting: WebhookPosting
    channels: ChannelDelivery
    give_up: float
    gone: Callable[[str, str], Awaitable[None]]
    _lanes: defaultdict[str, Lane] = field(init=False, default_factory=lambda: defaultdict(Lane))
    """By endpoint; those of removed endpoints are dropped."""

    async def deliver(self, delivery: Delivery) -> Outcome:
        """Delivers one fact to one endpoint; returns the outcome, for example when to try again."""
        address = parse_webhook_delivery(delivery.subject)
        if address is None:
            return DeadLetter("the subject names no company and endpoint")
        endpoint = self.table.find(*address)
        if endpoint is None:
            # The endpoint was removed from the settings meanwhile.
            self._lanes.pop(address[1], None)
            return self._count("dropped", Ack())
        event = json.loads(delivery.data)
        event_id, subject = str(event["id"]), str(event.get("subject", ""))
        lane = self._lanes[endpoint.id]
        refusal = self._check_lane(endpoint, delivery, subject)
        if refusal is not None:
            return refusal
        async with lane.place(subject):
            # The endpoint may have failed while this delivery waited for its turn.
            refusal = self._check_lane(endpoint, delivery, subject) if lane.failures else None
            if refusal is not None:
                return refusal
            started = time.time()
            if endpoint.channel is not None:
                again = delivery.num_delivered > 1
                answer = await self.channels.deliver(endpoint.channel, event, delivery.stored_at, again=again)
            else:
                headers = signed_headers(endpoint.hook.secret, event_id, int(started), delivery.data)
                answer = await self.posting.post(endpoint.hook.url, headers, delivery.data)
            lane.took(time.time() - started)
            if 200 <= answer.status < 300:
                lane.succeeded()
                return self._count("delivered", Ack())
            return await self._handle_failure(endpoint, answer, delivery, subject)

    def _check_lane(self, endpoint: WebhookEndpoint, delivery: Delivery, subject: str) -> Outcome | None:
        """The outcome for a fact that must not be sent now; None if it may be sent."""
        lane, now = self._lanes[endpoint.id], time.time()
        seconds = lane.wait(now, subject, delivery.seq)
        if seconds > 0 and lane.failures and now - delivery.stored_at > self.give_up:
            return self._count("given_up", DeadLetter(f"{_host(endpoint)} has not worked for too long"))
        return Retry(seconds) if seconds > 0 else None

    async def _handle_failure(
        self, endpoint: WebhookEndpoint, answer: EndpointAnswer, delivery: Delivery, subject: str
    ) -> Outcome:
        problem = answer.problem or f"answered {answer.status}"
        if answer.status == HTTP_GONE and endpoint.channel is None:
            await self.gone(endpoint.company, endpoint.hook.url)
            return self._count("gone", DeadLetter(f"{_host(endpoint)} {problem}: it is switched off (goneAt)"))
        if answer.forbidden:
            return self._count("forbidden", DeadLetter(f"{_host(endpoint)} {problem}"))
        lane, now = self._lanes[endpoint.id], time.time()
        age = now - delivery.stored_at
        pause = max(pause_after(age), answer.retry_after or 0.0)
        if age > self.give_up:
            return self._count("given_up", DeadLetter(f"{_host(endpoint)} {problem}, for too long"))
        if answer.status in {0, 401, 408, 429} or answer.status >= 500:
            # The endpoint failed, not this fact: its other facts would fail too, and later ones must not overtake this.
            lane.failed(now, answer.retry_after)
            pause = lane.wait(now, subject, delivery.seq)
        _log.info(
            "webhook.failed", company=endpoint.company, host=_host(endpoint), said=problem, again_in=round(pause, 1)
        )
        return self._count("failed", Retry(pause))

    def _count(self, outcome: str, result: Outcome) -> Outcome:
        WEBHOOKS.labels(outcome).inc()
        return result


def _host(endpoint: WebhookEndpoint) -> str:
    """The host of the endpoint's URL; its path and query may be secret."""
    return urlsplit(endpoint.hook.url).hostname or "the endpoint"
