"""A server of accounts (operator mode) lets in whoever has its credentials file, and nobody else."""

import base64
import binascii
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from runtime.bus.connection import connect
from runtime.errors import NotReadyError
from runtime.settings import NatsSettings
from runtime.testing.servers import NatsServer

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def encoded(data: bytes) -> str:
    """As NATS writes keys: with a checksum, in base32."""
    return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).decode().rstrip("=")


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class NatsKey:
    """A key of NATS, and the JWTs that it signs."""

    def __init__(self, kind: int) -> None:
        self._kind = kind
        self._key = Ed25519PrivateKey.generate()
        self.public = encoded(bytes([kind]) + self._key.public_key().public_bytes_raw())

    @property
    def seed(self) -> str:
        head = bytes([SEED | self._kind >> 5, (self._kind & 31) << 3])
        return encoded(head + self._key.private_bytes_raw())

    def jwt(self, subject: "NatsKey", kind: str) -> str:
        unlimited = {"subs": -1, "data": -1, "payload": -1}
        claimed = {"type": kind, "version": 2, **unlimited, "limits": {"conn": -1, **unlimited}}
        claims = {"iss": self.public, "sub": subject.public, "iat": 1, "nats": claimed}
        parts = ({"typ": "JWT", "alg": "ed25519-nkey"}, claims)
        signed = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        return f"{signed}.{base64url(self._key.sign(signed.encode()))}"


def credentials(jwt: str, seed: str) -> str:
    return (
        f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
        "************************* IMPORTANT *************************\nKeep it secret.\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )


@pytest.mark.own_servers
async def test_whoever_has_the_credentials_is_let_in(nats_server: NatsServer, tmp_path: Path) -> None:
    operator, system, account, user, stranger = (NatsKey(kind) for kind in (OPERATOR, ACCOUNT, ACCOUNT, USER, USER))
    accounts = ", ".join(f"{one.public}: {operator.jwt(one, 'account')}" for one in (system, account))
    (tmp_path / "nats.conf").write_text(
        f"operator: {operator.jwt(operator, 'operator')}\nsystem_account: {system.public}\n"
        f"resolver: MEMORY\nresolver_preload: {{ {accounts} }}\n"
    )
    nats_server.stop()
    nats_server.options = ("-c", str(tmp_path / "nats.conf"))
    nats_server.start()
    right, wrong, none = tmp_path / "right.creds", tmp_path / "wrong.creds", tmp_path / "none.creds"
    right.write_text(credentials(account.jwt(user, "user"), user.seed))
    wrong.write_text(credentials(account.jwt(user, "user"), stranger.seed))
    none.write_text("user: password")
    shown = NatsSettings(url=nats_server.url, connect_deadline=2.0)

    client = await connect(shown.model_copy(update={"credentials": str(right)}), name="test")
    await client.flush(timeout=10)
    await client.close()
    for path, said in ((wrong, "uthorization"), (none, "JWT and seed"), (tmp_path / "away", "No such file")):
        with pytest.raises(NotReadyError, match=f"NEXUS_NATS_CREDENTIALS.*{said}|{said}.*NEXUS_NATS_CREDENTIALS"):
            await connect(shown.model_copy(update={"credentials": str(path)}), name="test")
