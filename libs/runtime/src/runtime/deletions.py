"""Notifies a service of conversations that memory has deleted, so that it drops their data."""

from collections.abc import Callable, Sequence

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.erasure_rpc import FORGOTTEN, DeletedConversations
from runtime.bus.connection import subscribe

_log = structlog.get_logger(__name__)


async def follow_deletions(client: Client, deleted: Callable[[str, Sequence[str]], None]) -> None:
    """Calls `deleted` with a company and its conversations for each deletion from now on. A deletion runs twice, so
    `deleted` may be called for a conversation that has started again."""

    async def take(message: Msg) -> None:
        try:
            deletion = DeletedConversations.model_validate_json(message.data)
        except ValidationError as error:
            _log.warning("a notice of a deletion could not be read", error=repr(error))
        else:
            deleted(deletion.company, deletion.conversations)

    await subscribe(client, FORGOTTEN, take)
