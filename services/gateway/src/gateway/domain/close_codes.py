"""Close codes with which the gateway closes a socket. 4000-4499: reconnect; 4500-4999: final."""

from enum import IntEnum


class CloseCode(IntEnum):
    """Close codes of /v2/chat/ws."""

    DRAINING = 4001
    TOKEN_EXPIRED = 4005
    SLOW_CLIENT = 4008
    RESYNC = 4010
    NO_PONG = 4012
    RATE_LIMITED = 4029
    BAD_TOKEN = 4500
    BAD_FRAME = 4501
    NO_HELLO = 4502
    BLOCKED = 4503
    TOO_MANY_CONNECTIONS = 4504
    NO_SUCH_COMPANY = 4510


REASONS: dict[CloseCode, str] = {
    CloseCode.DRAINING: "this server is going away: reconnect",
    CloseCode.TOKEN_EXPIRED: "the token has expired: get a new one and reconnect",
    CloseCode.SLOW_CLIENT: "the client reads too slowly: reconnect",
    CloseCode.RESYNC: "facts may be missing: reconnect",
    CloseCode.NO_PONG: "no sign of life: reconnect",
    CloseCode.RATE_LIMITED: "too many frames: reconnect later",
    CloseCode.BAD_TOKEN: "the token is not valid",
    CloseCode.BAD_FRAME: "frames are JSON text of at most 128 KiB",
    CloseCode.NO_HELLO: "say hello first, within 10 seconds",
    CloseCode.BLOCKED: "this address is blocked",
    CloseCode.TOO_MANY_CONNECTIONS: "too many connections from this address or by this visitor",
    CloseCode.NO_SUCH_COMPANY: "there is no such company",
}
"""The texts of close frames (at most 123 bytes)."""
