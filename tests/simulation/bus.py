"""A simulated nats-server with what the runtime uses of one; the real client speaks the wire protocol with it.

test_bus.py compares it with the real server. At the rates of the plan it loses acknowledgements, stores late, delivers
twice, and answers reads from a replica that lags behind.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextvars import Context
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.simulation.deliveries import Deliveries
from tests.simulation.network import Connection, Network
from tests.simulation.streams import EPOCH, Consumer, SimulatedStream, Stored, matches, stamp
from tests.simulation.wire import ClientEnd, Subscription, read_headers

PORT = 4222
_INFO = {
    "server_id": "SIM",
    "version": "2.12.0",
    "headers": True,
    "max_payload": 1024 * 1024,
    "jetstream": True,
    "proto": 1,
}
_NO_STREAM = {"error": {"code": 404, "err_code": 10059, "description": "stream not found"}}
_NO_CONSUMER = {"error": {"code": 404, "err_code": 10014, "description": "consumer not found"}}


@dataclass
class Rates:
    """The probability of each fault of the bus, from 0 to 1."""

    lost_publish: float = 0.0
    """A publish to a stream is neither stored nor answered."""
    lost_puback: float = 0.0
    """It is stored, and not answered."""
    late_publish: float = 0.0
    """It is stored seconds later."""
    lost_ack: float = 0.0
    """A consumer's acknowledgement does not arrive."""
    lost_confirmation: float = 0.0
    """It arrives, and is not confirmed."""
    early: float = 0.0
    """A message is delivered again before its acknowledgement is due."""
    stale: float = 0.0
    """A direct read is answered from a replica that lags behind."""
    slow_read: float = 0.0
    """A direct read is answered up to a second late."""
    lost_message: float = 0.0
    """A message outside the streams does not arrive."""
    lost_copy: float = 0.0
    """A stored message is not republished: the stream's leader died in between."""


class Bus:
    """The server. It answers at once; the network delays."""

    def __init__(self, loop: asyncio.AbstractEventLoop, network: Network, random: Random) -> None:
        self.loop = loop
        self._network = network
        self.random = random
        self.deliveries = Deliveries(self)
        self._context = Context()
        self.rates = Rates()
        self.streams: dict[str, SimulatedStream] = {}
        self._by_subject: dict[str, SimulatedStream | None] = {}
        self._by_start: dict[str, list[Subscription]] = {}
        self._routes: dict[str, list[Subscription]] = {}
        self.trace: list[str] = []
        self.tracing = False
        network.listeners[PORT] = self._accept

    def now(self) -> float:
        """Returns the server's wall clock time."""
        return EPOCH + self.loop.time()

    def note(self, text: str) -> None:
        """Adds a line to the trace."""
        if self.tracing:
            self.trace.append(f"{self.loop.time():10.4f} {text}")

    async def away(self, seconds: float) -> None:
        """Restarts the server: connections are closed, stored messages stay, pending requests are forgotten."""
        listener = self._network.listeners.pop(PORT, None)
        for connection in list(self._network.connections):
            connection.cut()
        for stream in self.streams.values():
            for name, consumer in stream.consumers.items():
                consumer.requests.clear()
                for out in list(consumer.out.values()):
                    if not out.waiting and self.random.random() < 0.3:
                        self.deliveries.again(stream, name, consumer, out)
        await asyncio.sleep(seconds)
        if listener is not None:
            self._network.listeners[PORT] = listener

    def chance(self, rate: float) -> bool:
        """Returns whether a fault with this probability happens now."""
        return rate > 0 and self.random.random() < rate

    def later(self, seconds: float, call: Any, *args: Any) -> None:
        """Schedules a call in this many seconds."""
        self.loop.call_later(seconds, call, *args, context=self._context)

    def _accept(self, connection: Connection) -> ClientEnd:
        connection.answer(b"INFO " + json.dumps(_INFO).encode() + b"\r\n")
        return ClientEnd(self, connection)

    # ------------------------------------------------------------ core

    def subscribe(self, subscription: Subscription) -> None:
        """Adds a subscription; one that is there already stays as it is."""
        if subscription.sid in subscription.client.subscriptions:
            return
        subscription.client.subscriptions[subscription.sid] = subscription
        self._listed(subscription.subject).append(subscription)
        self._routes.clear()

    def unsubscribe(self, client: ClientEnd, sid: str, most: int) -> None:
        """Removes a subscription at once, even if a limit of messages is given (no test relies on the limit)."""
        del most
        subscription = client.subscriptions.pop(sid, None)
        if subscription is not None:
            self._listed(subscription.subject).remove(subscription)
            self._routes.clear()

    def _listed(self, pattern: str) -> list[Subscription]:
        """Returns the list for a subscription: that of its first two tokens, unless one of them is a wildcard."""
        start = _start(pattern)
        return self._by_start.setdefault("" if "*" in start or ">" in start else start, [])

    def route(self, subject: str) -> list[Subscription]:
        """Returns the subscriptions that match a subject."""
        found = self._routes.get(subject)
        if found is None:
            candidates = [*self._by_start.get(_start(subject), ()), *self._by_start.get("", ())]
            found = self._routes[subject] = [
                candidate for candidate in candidates if matches(candidate.subject, subject)
            ]
        return found

    def deliver(self, subject: str, data: bytes, *, reply: str = "", head: bytes = b"", shown: str = "") -> int:
        """Delivers to every subscription and to one of each queue group; returns how many. `shown`: the subject they
        see."""
        chosen: list[Subscription] = []
        groups: dict[str, list[Subscription]] = {}
        for subscription in self.route(subject):
            if subscription.queue:
                groups.setdefault(subscription.queue, []).append(subscription)
            else:
                chosen.append(subscription)
        for members in groups.values():
            chosen.append(members[0] if len(members) == 1 else self.random.choice(members))
        name, answer_to = shown or subject, f"{reply} " if reply else ""
        for subscription in chosen:
            if head:
                line = f"HMSG {name} {subscription.sid} {answer_to}{len(head)} {len(head) + len(data)}\r\n"
            else:
                line = f"MSG {name} {subscription.sid} {answer_to}{len(data)}\r\n"
            subscription.client.connection.answer(b"".join((line.encode(), head, data, b"\r\n")))
        return len(chosen)

    def status(self, subject: str, status: str, **headers: object) -> int:
        """Sends a status with headers and no body."""
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        return self.deliver(subject, b"", head=f"NATS/1.0 {status}\r\n{lines}\r\n".encode())

    def published(self, client: ClientEnd, subject: str, reply: str, head: bytes, data: bytes) -> None:
        """Handles a message that a client published."""
        if subject.startswith("$JS."):
            if subject.startswith("$JS.ACK."):
                self.deliveries.acknowledged(subject, data, reply)
            else:
                self._api(client.connection.process, subject[8:], data, reply)
            return
        stream = self._stream_of(subject)
        if stream is None:
            if self.chance(self.rates.lost_message):
                self.note(f"{client.connection.process}: lost {subject}")
                return
            if self.deliver(subject, data, reply=reply, head=head) == 0 and reply:
                self.status(reply, "503")
            return
        self.deliver(subject, data, head=head)
        if self.chance(self.rates.lost_publish):
            self.note(f"{client.connection.process}: lost {subject}")
            return
        if self.chance(self.rates.late_publish):
            seconds = self.random.uniform(0.2, 4.0)
            self.note(f"{client.connection.process}: late by {seconds:.2f} s {subject}")
            self.later(seconds, self._store, client.connection.process, stream, subject, reply, head, data)
            return
        self._store(client.connection.process, stream, subject, reply, head, data)

    # ------------------------------------------------------------ streams

    def _stream_of(self, subject: str) -> SimulatedStream | None:
        if subject.startswith("_INBOX."):
            return None
        if subject not in self._by_subject:
            self._by_subject[subject] = next(
                (stream for stream in self.streams.values() if stream.takes(subject)), None
            )
        return self._by_subject[subject]

    def _store(self, who: str, stream: SimulatedStream, subject: str, reply: str, head: bytes, data: bytes) -> None:
        headers = read_headers(head)
        answer: dict[str, Any]
        duplicate_seq = stream.duplicate(headers, self.now())
        refused = stream.refusal(subject, headers, len(head) + len(data))
        if refused is not None:
            # The fence is checked before the id.
            code, err_code, text = refused
            answer = {
                "error": {"code": code, "err_code": err_code, "description": text},
                "stream": stream.name,
                "seq": 0,
            }
            self.note(f"{who}: refused ({text}) {subject}")
        elif duplicate_seq is not None:
            answer = {"stream": stream.name, "seq": duplicate_seq, "duplicate": True}
            self.note(f"{who}: known as {duplicate_seq} {subject}")
        else:
            message = stream.store(subject, head, headers, data, self.now())
            answer = {"stream": stream.name, "seq": message.seq}
            self.note(f"{who}: stored {stream.name} {message.seq} {subject}")
            self._spread(stream, message)
        if not reply:
            return
        if self.chance(self.rates.lost_puback):
            self.note(f"{who}: acknowledgement lost {subject}")
            return
        self.deliver(reply, json.dumps(answer).encode())

    def copy(self, stream: SimulatedStream, message: Stored) -> None:
        """Stores a message a second time, as if its publisher repeated it after its id was forgotten."""
        duplicate = stream.copy(message, self.now())
        self.note(f"stored {stream.name} {duplicate.seq}, a copy of {message.seq} {message.subject}")
        self._spread(stream, duplicate)

    def _spread(self, stream: SimulatedStream, message: Stored) -> None:
        self._republish(stream, message)
        for name, consumer in stream.consumers.items():
            self.deliveries.pump(stream, name, consumer)

    def _republish(self, stream: SimulatedStream, message: Stored) -> None:
        rule = stream.config.get("republish")
        if not rule or not matches(rule["src"], message.subject):
            return
        destination = rule["dest"].removesuffix(">") + message.subject.removeprefix(rule["src"].removesuffix(">"))
        if self.chance(self.rates.lost_copy):
            self.note(f"live copy lost of {message.seq}")
            return
        own = message.headers[len(b"NATS/1.0\r\n") :] if message.headers else b"\r\n"
        self.deliver(destination, message.data, head=message.head(stream.name).encode() + own)

    # ------------------------------------------------------------ the API

    def _api(self, who: str, method: str, data: bytes, reply: str) -> None:
        words = method.split(".")
        if words[0] == "DIRECT":
            reading = who, words[2], ".".join(words[3:]), data, reply
            if self.chance(self.rates.slow_read):
                self.later(self.random.uniform(0.0, 1.0), self._direct, *reading)
            else:
                self._direct(*reading)
        elif method.startswith("CONSUMER.MSG.NEXT."):
            self.deliveries.next(words[3], words[4], data, reply)
        else:
            self.deliver(reply, json.dumps(self._answer(words, data)).encode())

    def _answer(self, words: list[str], data: bytes) -> dict[str, Any]:
        if words[1] == "DURABLE":
            del words[1]
        kind, verb, stream = words[0], words[1], self.streams.get(words[2] if len(words) > 2 else "")
        body: dict[str, Any] = json.loads(data) if data else {}
        if kind == "STREAM":
            if verb == "CREATE" and stream is None:
                stream = self.streams[words[2]] = SimulatedStream(body, self.now())
                self._by_subject.clear()
            if stream is None:
                return _NO_STREAM
            if verb == "UPDATE":
                stream.config = body
            live = [stored for stored in stream.log if not stored.gone]
            state: dict[str, Any] = {
                "messages": len(live),
                "bytes": sum(len(stored.subject) + len(stored.headers) + len(stored.data) for stored in live),
                "first_seq": live[0].seq if live else stream.last_seq + 1,
                "last_seq": stream.last_seq,
            }
            if pattern := body.get("subjects_filter"):
                state["subjects"] = dict(Counter(stored.subject for stored in live if matches(pattern, stored.subject)))
            return {"config": stream.config, "created": stamp(stream.created), "state": state, "ts": stamp(self.now())}
        if stream is None:
            return _NO_STREAM
        if verb == "CREATE":
            name = str(body["config"]["durable_name"])
            known = stream.consumers.get(name)
            if known is None:
                known = stream.consumers[name] = Consumer(body["config"], self.now())
                if body["config"].get("deliver_policy") == "new":
                    known.next_seq = stream.last_seq + 1
            known.config = body["config"]
        elif verb == "LIST":
            listed = [self._about(stream, name, stored) for name, stored in stream.consumers.items()]
            return {"total": len(listed), "consumers": listed[int(body.get("offset", 0)) :]}
        else:
            name = words[3]
        consumer = stream.consumers.get(name)
        if consumer is None:
            return _NO_CONSUMER
        if verb == "DELETE":
            del stream.consumers[name]
            return {"success": True}
        return self._about(stream, name, consumer)

    def _about(self, stream: SimulatedStream, name: str, consumer: Consumer) -> dict[str, Any]:
        return {
            "stream_name": stream.name,
            "name": name,
            "created": stamp(consumer.created),
            "config": consumer.config,
            "delivered": {"consumer_seq": consumer.deliveries, "stream_seq": consumer.next_seq - 1},
            "ack_floor": {"consumer_seq": 0, "stream_seq": min(consumer.out, default=consumer.next_seq) - 1},
            "num_pending": consumer.pending(stream),
            "num_ack_pending": len(consumer.out),
            "num_redelivered": sum(out.delivered > 1 for out in consumer.out.values()),
            "ts": stamp(self.now()),
        }

    def _direct(self, who: str, name: str, subject: str, data: bytes, reply: str) -> None:
        stream = self.streams.get(name)
        if stream is None:
            self.status(reply, "503")
            return
        behind = 0
        if self.chance(self.rates.stale):
            behind = min(self.random.randint(1, 4), len(stream.log))
            self.note(f"{who}: read of {name} that is {behind} behind")
        if subject:
            found = stream.last_of_each([subject], behind)
            self._one(stream, found[-1] if found else None, reply)
            return
        body: dict[str, Any] = json.loads(data)
        if "multi_last" in body:
            reached = stream.last_seq if not behind else stream.log[-1 - behind].seq if behind < len(stream.log) else 0
            self._many(stream, stream.last_of_each(body["multi_last"], behind), reply, reached=reached)
            return
        pattern = str(body.get("next_by_subj", ">"))
        found = stream.after(pattern, int(body.get("seq", 1)), behind)
        if "batch" in body:
            size = int(body["batch"])
            self._many(stream, found[:size], reply, len(found) - size)
        elif "next_by_subj" in body:
            self._one(stream, found[0] if found else None, reply)
        else:
            self._one(stream, found[0] if found and found[0].seq == int(body["seq"]) else None, reply)

    def _one(self, stream: SimulatedStream, message: Stored | None, reply: str) -> None:
        if message is None:
            self.status(reply, "404 Message Not Found")
            return
        own = message.headers[len(b"NATS/1.0\r\n") :] if message.headers else b"\r\n"
        self.deliver(reply, message.data, head=message.head(stream.name).encode() + own)

    def _many(
        self, stream: SimulatedStream, found: list[Stored], reply: str, beyond: int = 0, *, reached: int = 0
    ) -> None:
        if not found:
            self.status(reply, "404 No Results")
            return
        before = 0
        for position, message in enumerate(found):
            left = len(found) - position - 1 + max(beyond, 0)
            extra = f"Nats-Num-Pending: {left}\r\nNats-Last-Sequence: {before}\r\n"
            before = message.seq
            own = message.headers[len(b"NATS/1.0\r\n") :] if message.headers else b"\r\n"
            self.deliver(reply, message.data, head=(message.head(stream.name) + extra).encode() + own)
        up_to = {"Nats_UpTo_Sequence": reached} if reached else {}
        self.status(reply, "204 EOB", Nats_Num_Pending=max(beyond, 0), Nats_Last_Sequence=before, **up_to)


def _start(subject: str) -> str:
    first, _, rest = subject.partition(".")
    return f"{first}.{rest.partition('.')[0]}"
