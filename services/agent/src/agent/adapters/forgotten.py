"""Conversations that were deleted: what is held of them comes into no prompt, and no model goes on in them."""

from collections.abc import Callable

import orjson
import structlog
from nats.aio.msg import Msg

from agent.adapters.followed import FollowedConversations
from agent.adapters.histories import HistoryClient
from agent.ports import Key

_log = structlog.get_logger(__name__)


class ForgottenConversations:
    """Drops them when memory tells of a deletion (contracts.erasure_rpc.FORGOTTEN). `stop`: ends a conversation's
    running turns."""

    def __init__(self, histories: HistoryClient, followed: FollowedConversations, stop: Callable[[Key], None]) -> None:
        self._histories = histories
        self._followed = followed
        self._stop = stop

    async def take(self, message: Msg) -> None:
        """One deletion's conversations."""
        try:
            told = orjson.loads(message.data)
            keys = [Key(str(told["company"]), str(name)) for name in told["conversations"]]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            _log.warning("a notice of a deletion could not be read", error=repr(error))
            return
        for key in keys:
            self._histories.drop(key)
            self._followed.drop(key)
            self._stop(key)
