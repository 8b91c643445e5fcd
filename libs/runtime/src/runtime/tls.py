"""TLS to bus and stores: reloads files that are replaced while a service runs, and explains refused certificates."""

from __future__ import annotations

import ssl
from pathlib import Path


class ReloadingContext(ssl.SSLContext):
    """A client's context that reads its files again when one of them has changed, so that the next connection uses only
    renewed certificates."""

    _files: tuple[str | None, str | None, str | None]
    _loaded_times: tuple[float, ...]
    _current: ssl.SSLContext

    @classmethod
    def of(cls, ca: str | None, certificate: str | None, key: str | None) -> ReloadingContext:
        """Builds a context from paths of PEMs. `ca`: the authorities for servers' certificates (None: the machine's);
        `certificate`, `key`: the client's own. Raises OSError or ValueError if they cannot be used."""
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        context._files = (ca, certificate, key)
        context._read_files()
        return context

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        if self._loaded_times != self._modification_times():
            self._read_files()
        return self._current.wrap_bio(incoming, outgoing, server_side, server_hostname, session)

    def _read_files(self) -> None:
        ca, certificate, key = self._files
        changed = self._modification_times()
        current = ssl.create_default_context(cafile=ca)
        if certificate is not None:
            current.load_cert_chain(certificate, key)
        self._loaded_times, self._current = changed, current

    def _modification_times(self) -> tuple[float, ...]:
        return tuple(Path(file).stat().st_mtime for file in self._files if file)


_REMEDIES = (
    ("certificate has expired", "the server's certificate has expired: renew it, and let the server load it"),
    (
        "mismatch, certificate is not valid",
        "the server's certificate is for another name: use that name, or renew it with this one",
    ),
    ("certificate verify failed", "nobody trusted here has issued the server's certificate: name its authority, {ca}"),
    ("alert certificate expired", "the server says that this client's certificate has expired: renew it, {own}"),
    ("certificate required", "the server wants a certificate of this client: name one, {own}"),
    ("alert unknown ca", "the server does not trust who issued this client's certificate: name another, {own}"),
    ("alert bad certificate", "the server refuses this client's certificate: name another, {own}"),
)
_NAMES = {
    "NATS": ("NEXUS_NATS_TLS_CA", "NEXUS_NATS_TLS_CERTIFICATE and NEXUS_NATS_TLS_KEY"),
    "Redis": ("ssl_ca_certs in NEXUS_REDIS_URL", "ssl_certfile and ssl_keyfile in NEXUS_REDIS_URL"),
    "MongoDB": ("tlsCAFile in NEXUS_MONGODB_URL", "tlsCertificateKeyFile in NEXUS_MONGODB_URL"),
}


def remedy(server: str, error: str) -> str | None:
    """Returns what to do about a certificate that one side refuses; None if the error has another cause. `server`:
    NATS, Redis or MongoDB; `error`: the connection's error text."""
    ca, client_files = _NAMES[server]
    error = error.casefold()
    return next((text.format(ca=ca, own=client_files) for words, text in _REMEDIES if words in error), None)
