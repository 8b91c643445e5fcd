"""Reads everything a stack has stored, as text by place: every message of every stream, every document, every key."""

from typing import Any, cast

from nats.aio.client import Client
from nats.js.errors import NotFoundError
from pymongo import AsyncMongoClient
from redis.asyncio import Redis

from contracts.streams import STREAMS
from tests.support.running_stack import RunningStack


async def streams(stack: RunningStack) -> dict[str, str]:
    """Returns subjects, headers and bodies by stream and the first three tokens of the subject."""
    bus = Client()
    await bus.connect(stack.facts()["urls"]["nats"])
    try:
        js, texts = bus.jetstream(), dict[str, str]()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        for stream in STREAMS:
            state = (await js.stream_info(stream.name)).state  # pyright: ignore[reportUnknownMemberType]
            for seq in range(max(state.first_seq, 1), state.last_seq + 1):
                try:
                    message = await js.get_msg(stream.name, seq)  # pyright: ignore[reportUnknownMemberType]
                except NotFoundError:
                    continue  # deleted
                headers = cast("object", message.headers)  # pyright: ignore[reportUnknownMemberType]
                subject = message.subject or ""
                place = f"stream {stream.name} {'.'.join(subject.split('.')[:3])}"
                body = (message.data or b"").decode(errors="replace")
                texts[place] = texts.get(place, "") + f"\n{subject} {headers} {body}"
        return texts
    finally:
        await bus.close()


async def databases(stack: RunningStack) -> dict[str, str]:
    """Returns the documents of every database by collection, and the keys and values of Redis by key."""
    urls, texts = stack.facts()["urls"], dict[str, str]()
    async with AsyncMongoClient[dict[str, Any]](urls["mongodb"]) as mongo:
        for database in await mongo.list_database_names():
            for name in await mongo[database].list_collection_names():
                rows = await mongo[database][name].find({}).to_list()
                texts[f"mongo {name}"] = texts.get(f"mongo {name}", "") + str(rows)
    async with Redis.from_url(urls["redis"]) as redis:  # pyright: ignore[reportUnknownMemberType]
        server: Any = redis
        for key in await server.keys("*"):
            kind = (await server.type(key)).decode()
            read = {"string": server.get, "hash": server.hgetall, "set": server.smembers}.get(kind)
            value = await (read(key) if read else server.zrange(key, 0, -1))
            texts[f"redis {key.decode()}"] = f"{key} {value}"
    return texts
