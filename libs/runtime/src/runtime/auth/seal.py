"""Encrypts ("seals") companies' secrets, which are stored and sent encrypted and never shown again.

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

_NONCE_BYTES = 12


class NotSealableError(RuntimeLibraryError):
    """There is no key to seal with, or no key opens the secret."""


class Seal:
    """Seals with the first of this process's keys, and opens with any of them."""

    def __init__(self, settings: SealSettings) -> None:
        self._keys = [AESGCM(_derived(key)) for key in settings.keys]

    def close(self, secret: str, owner: str) -> str:
        """Encrypts the secret. Raises NotSealableError."""
        if not self._keys:
            raise NotSealableError(
                "secrets cannot be kept here: give memory, agent and tool-executor a NEXUS_SECRETS_KEY"
            )
        nonce = os.urandom(_NONCE_BYTES)
        body = nonce + self._keys[0].encrypt(nonce, secret.encode(), owner.encode())
        return PREFIX + base64.urlsafe_b64encode(body).decode()

    def open(self, secret: str, owner: str) -> str:
        """Returns the secret in plain text; a value that is not sealed is returned unchanged. Raises
        NotSealableError."""
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
                return key.decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], owner.encode()).decode()
            except (InvalidTag, ValueError):
                continue
        raise NotSealableError("no key of NEXUS_SECRETS_KEY opens this secret: give it anew, or the key back")

    def renewed(self, secret: str, owner: str) -> str:
        """Returns the secret sealed with the first key; unchanged if that key opens it already, or if no key does."""
        for index in range(len(self._keys)):
            try:
                opened = self._opened_with(self._keys[index : index + 1], secret, owner)
            except NotSealableError:
                continue
            return self.close(opened, owner) if index else secret
        return secret


def company_seal() -> Seal | None:
    """Returns a seal with the environment's keys, or None if there are none."""
    settings = SealSettings()
    return Seal(settings) if settings.keys else None


def _derived(key: bytes) -> bytes:
    return HKDF(hashes.SHA256(), length=32, salt=None, info=b"nexus secrets of companies").derive(key)
