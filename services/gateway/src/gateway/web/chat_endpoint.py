"""/v2/chat/ws: reads frames from the websocket and passes them to the session."""

from collections.abc import Sequence

from starlette.types import Receive, Scope, Send

from gateway.chat.session import Chat, ClientSession
from gateway.domain.close_codes import CloseCode
from gateway.domain.forwarded import UNKNOWN_ADDRESS, Network, is_in, parse_address
from gateway.ports import Socket
from gateway.web.transport import SOCKET_EXTENSION


class ChatEndpoint:
    """The ASGI application of the chat's websocket. ChatProtocol must serve it."""

    def __init__(self, chat: Chat, blocked: Sequence[Network] = ()) -> None:
        self._chat = chat
        self._blocked = tuple(blocked)
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        socket: Socket = scope["extensions"][SOCKET_EXTENSION]
        address = client_address(scope)
        if self.draining:
            socket.terminate(CloseCode.DRAINING)
        elif is_blocked(address, self._blocked):
            socket.terminate(CloseCode.BLOCKED)
        elif not self._chat.limits.enter_address(address):
            socket.terminate(CloseCode.TOO_MANY_CONNECTIONS)
        else:
            try:
                await self._serve(ClientSession(self._chat, socket, address), socket, receive)
            finally:
                self._chat.limits.leave_address(address)

    async def _serve(self, session: ClientSession, socket: Socket, receive: Receive) -> None:
        try:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return
                text = message.get("text")
                if text is None:
                    socket.terminate(CloseCode.BAD_FRAME)
                    return
                await session.receive(text)
        finally:
            await session.close()


def client_address(scope: Scope) -> str:
    """The client's address; NOBODY if a trusted proxy does not give it (web/proxies.py)."""
    client = scope.get("client")
    return client[0] if client else UNKNOWN_ADDRESS


def is_blocked(address: str, networks: Sequence[Network]) -> bool:
    parsed = parse_address(address) if networks else None
    return parsed is not None and is_in(parsed, networks)
