"""Sealing: companies' secrets are stored and sent encrypted, used, and never shown again.

AES-256-GCM (NIST SP 800-38D) under a key that HKDF (RFC 5869) derives from NEXUS_SECRETS_KEY; the owner of the secret
is part of the seal, so that one company's secret cannot be put into another's settings. Memory seals; the services that
use a secret open it.
"""

import base64
import binascii
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contracts.sealed import PREFIX, is_sealed
from runtime.errors import RuntimeLibraryError
from runtime.settings import SealSettings

_NONCE = 12


class NotSealableError(RuntimeLibraryError):
    """There is no key to seal with, or none that opens what was sealed."""


class Seal:
    """The keys of this process, the first of which seals."""

    def __init__(self, settings: SealSettings) -> None:
        self._keys = [AESGCM(_derived(key)) for key in settings.keys]

    def close(self, secret: str, owner: str) -> str:
        """The sealed secret. Raises NotSealableError."""
        if not self._keys:
            raise NotSealableError(
                "secrets cannot be kept here: give memory, agent and tool-executor a NEXUS_SECRETS_KEY"
            )
        nonce = os.urandom(_NONCE)
        body = nonce + self._keys[0].encrypt(nonce, secret.encode(), owner.encode())
        return PREFIX + base64.urlsafe_b64encode(body).decode()

    def open(self, secret: str, owner: str) -> str:
        """The secret in plain text; a value that is not sealed stays as it is. Raises NotSealableError."""
        return self._opened_with(self._keys, secret, owner)

    def _opened_with(self, keys: Sequence[AESGCM], secret: str, owner: str) -> str:
        if not is_sealed(secret):
            return secret
        try:
            body = base64.urlsafe_b64decode(secret.removeprefix(PREFIX))
        except (ValueError, binascii.Error) as error:
            raise NotSealableError("this secret is damaged") from error
        for key in keys:
            try:
                return key.decrypt(body[:_NONCE], body[_NONCE:], owner.encode()).decode()
            except (InvalidTag, ValueError):
                continue
        raise NotSealableError("no key of NEXUS_SECRETS_KEY opens this secret: give it anew, or the key back")

    def renewed(self, secret: str, owner: str) -> str:
        """The secret sealed with the first key: as it is if that opens it, or if no key does."""
        for number in range(len(self._keys)):
            try:
                opened = self._opened_with(self._keys[number : number + 1], secret, owner)
            except NotSealableError:
                continue
            return self.close(opened, owner) if number else secret
        return secret


def company_seal() -> Seal | None:
    """With the environment's keys; None: there are none."""
    settings = SealSettings()
    return Seal(settings) if settings.keys else None


def _derived(key: bytes) -> bytes:
    return HKDF(hashes.SHA256(), length=32, salt=None, info=b"nexus secrets of companies").derive(key)
