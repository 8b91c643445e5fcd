"""AWS Signature Version 4 in the Authorization header, for S3; it also covers the body's SHA-256.

Source: Amazon S3 API Reference, "Authenticating requests: using the Authorization header".
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY_HASH = hashlib.sha256(b"").hexdigest()
"""The hash of a request without a body."""


@dataclass(frozen=True, slots=True)
class S3Key:
    """The access key that signs, and its region."""

    id: str
    secret: str
    region: str


def encoded(text: str, safe: str = "") -> str:
    """Percent-encodes all but A-Z a-z 0-9 - . _ ~, as the signature requires."""
    return quote(text, safe=safe + "-._~")


def query_of(fields: Mapping[str, str]) -> str:
    """Returns the query in the order and form in which it is signed."""
    return "&".join(f"{encoded(name)}={encoded(value)}" for name, value in sorted(fields.items()))


def signed_headers(
    key: S3Key, method: str, path: str, query: str, headers: Mapping[str, str], body_hash: str, now: datetime
) -> dict[str, str]:
    """Returns the headers to send, signature included.

    Args:
        path: encoded, with the leading slash.
        query: as `query_of` writes it.
        headers: further headers to sign; `host` must be among them.
        body_hash: SHA-256 of the body in hexadecimal.
        now: the request's time; a server refuses requests that are a quarter of an hour off.
    """
    timestamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    headers_to_send = {**headers, "x-amz-content-sha256": body_hash, "x-amz-date": timestamp}
    lines = sorted((name.lower(), " ".join(value.split())) for name, value in headers_to_send.items())
    names = ";".join(name for name, _ in lines)
    header_lines = "".join(f"{name}:{value}\n" for name, value in lines)
    canonical = "\n".join((method, path, query, header_lines, names, body_hash))
    scope = f"{timestamp[:8]}/{key.region}/s3/aws4_request"
    to_sign = "\n".join((ALGORITHM, timestamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    secret = f"AWS4{key.secret}".encode()
    for part in scope.split("/"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    signature = hmac.digest(secret, to_sign.encode(), "sha256").hex()
    authorization = f"{ALGORITHM} Credential={key.id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**headers_to_send, "authorization": authorization}
