"""The pull consumers of the simulated bus: requests, deliveries, redelivery and acknowledgements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.simulation.streams import Consumer, Out, Request, SimulatedStream

if TYPE_CHECKING:
    from tests.simulation.bus import Bus


class Deliveries:
    """Handles pull requests and deliveries for a bus."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    def next(self, stream_name: str, name: str, data: bytes, reply: str) -> None:
        """Handles a pull request for messages."""
        stream = self._bus.streams.get(stream_name)
        consumer = stream.consumers.get(name) if stream is not None else None
        if stream is None or consumer is None:
            self._bus.status(reply, "503")
            return
        body: dict[str, Any] = json.loads(data) if data else {}
        now = self._bus.loop.time()
        ends = now + body.get("expires", 0) / 1e9
        heartbeat = body.get("idle_heartbeat", 0) / 1e9
        request = Request(reply, int(body.get("batch", 1)), ends, heartbeat, now)
        consumer.requests.append(request)
        self.pump(stream, name, consumer)
        if request.left and body.get("no_wait"):
            consumer.requests.remove(request)
            self._bus.status(reply, "404 No Messages")
        elif request.left and (heartbeat or body.get("expires")):
            self._bus.later(min(heartbeat or 1e9, ends - now), self._beat, consumer, request)

    def _beat(self, consumer: Consumer, request: Request) -> None:
        if request not in consumer.requests:
            return
        now = self._bus.loop.time()
        if now >= request.ends - 1e-9:
            consumer.requests.remove(request)
            self._bus.status(
                request.reply, "408 Request Timeout", Nats_Pending_Messages=request.left, Nats_Pending_Bytes=0
            )
            return
        if request.heartbeat and now >= request.heard + request.heartbeat - 1e-9:
            request.heard = now
            if self._bus.status(request.reply, "100 Idle Heartbeat") == 0:
                consumer.requests.remove(request)  # the client that made the request has gone
                return
        due = min(request.heard + request.heartbeat if request.heartbeat else request.ends, request.ends)
        self._bus.later(due - now, self._beat, consumer, request)

    def pump(self, stream: SimulatedStream, name: str, consumer: Consumer) -> None:
        """Delivers the messages that are due to the waiting requests."""
        while consumer.requests:
            request = self._bus.random.choice(consumer.requests)
            if not self._bus.route(request.reply):
                consumer.requests.remove(request)
                continue
            out = consumer.next(stream)
            if out is None:
                return
            request.left -= 1
            request.heard = self._bus.loop.time()
            if request.left <= 0:
                consumer.requests.remove(request)
            self._send(stream, name, consumer, out, request.reply)

    def _send(self, stream: SimulatedStream, name: str, consumer: Consumer, out: Out, inbox: str) -> None:
        out.delivered += 1
        out.waiting = False
        consumer.deliveries += 1
        message = out.message
        out.due = self._bus.loop.time() + consumer.ack_wait
        nanoseconds = int(message.at * 1_000_000) * 1000
        address = (
            f"$JS.ACK.{stream.name}.{name}.{out.delivered}.{message.seq}.{consumer.deliveries}.{nanoseconds}"
            f".{consumer.pending(stream)}"
        )
        self._bus.note(f"delivered {name} {message.seq} ({out.delivered}) {message.subject}")
        self._bus.deliver(inbox, message.data, reply=address, head=message.headers, shown=message.subject)
        wait = consumer.ack_wait
        if self._bus.chance(self._bus.rates.early):
            wait = out.due = self._bus.loop.time()
            wait = self._bus.random.uniform(0.0, 1.0)
            out.due += wait
        self._bus.later(wait, self._expire, stream, name, consumer, out)

    def _expire(self, stream: SimulatedStream, name: str, consumer: Consumer, out: Out) -> None:
        if consumer.out.get(out.message.seq) is not out or out.waiting:
            return
        left = out.due - self._bus.loop.time()
        if left > 1e-9:
            self._bus.later(left, self._expire, stream, name, consumer, out)
            return
        self.again(stream, name, consumer, out)

    def again(self, stream: SimulatedStream, name: str, consumer: Consumer, out: Out) -> None:
        """Delivers a message again, to any waiting request."""
        if consumer.out.get(out.message.seq) is out:
            out.waiting = True
            consumer.again.append(out)
            self.pump(stream, name, consumer)

    def acknowledged(self, subject: str, word: bytes, reply: str) -> None:
        """Handles a consumer's acknowledgement of a delivery."""
        words = subject.split(".")
        stream = self._bus.streams.get(words[2])
        consumer = stream.consumers.get(words[3]) if stream is not None else None
        if stream is None or consumer is None:
            return
        name, out = words[3], consumer.out.get(int(words[5]))
        if self._bus.chance(self._bus.rates.lost_ack):
            self._bus.note(f"not heard: {word.decode()} of {name} {words[5]}")
            return
        if out is not None:
            if word.startswith(b"-NAK"):
                if out.delivered == int(words[4]) and not out.waiting:
                    delay = json.loads(word[5:] or b"{}").get("delay", 0) / 1e9
                    out.due = self._bus.loop.time() + delay
                    self._bus.later(delay, self._expire, stream, name, consumer, out)
            elif word.startswith(b"+WPI"):
                out.due = self._bus.loop.time() + consumer.ack_wait
            else:
                self._bus.note(f"acknowledged {name} {words[5]}")
                del consumer.out[out.message.seq]
                if stream.config.get("retention") == "workqueue":
                    out.message.gone = True
                self.pump(stream, name, consumer)
        if reply and not self._bus.chance(self._bus.rates.lost_confirmation):
            self._bus.deliver(reply, b"")
