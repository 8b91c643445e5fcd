"""NATS credentials files (.creds): a user's JWT, and the key with which the user signs the server's nonce.

nats-py uses one more library for them; the key is an Ed25519 key, so `cryptography` can sign as well.
"""

import base64
import re
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_BLOCK = re.compile(rb"-BEGIN [^\n]*-\s+(\S+)\s+-+END ")


def user_jwt(path: str) -> bytes:
    """Returns the user's JWT; raises OSError or ValueError if the file cannot be used."""
    return _read(path)[0]


def sign(path: str, nonce: str) -> bytes:
    """Returns the signature of the server's nonce, in base64; raises OSError or ValueError if the file cannot be
    used."""
    seed = _read(path)[1]
    raw = base64.b32decode(seed + b"=" * (-len(seed) % 8))
    # The first two bytes are the kind of key, the last two a checksum.
    return base64.b64encode(Ed25519PrivateKey.from_private_bytes(raw[2:34]).sign(nonce.encode()))


def _read(path: str) -> tuple[bytes, bytes]:
    blocks: list[bytes] = _BLOCK.findall(Path(path).read_bytes())
    if len(blocks) != 2:
        raise ValueError("it does not hold a user's JWT and seed, as `nsc generate creds` writes them")
    return blocks[0], blocks[1]
