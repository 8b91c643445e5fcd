"""Settings that several services read: one small model for each subsystem, filled from `NEXUS_…` variables, `.env`, and
files named like a variable.

A service combines the models it needs in its own settings.py, and only its composition root builds them.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ByteSize,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SecretsSettingsSource, SettingsConfigDict

from contracts.streams import STREAMS, Stream
from runtime.addresses import HttpAddress, mongodb_address, nats_address, redis_address
from runtime.tls import ReloadingContext

SECRETS = Path("/run/secrets")
"""Where containers get secrets as files: a file NEXUS_JWT_SECRET, for example, holds the value of that variable."""
MAX_NUMBER = 1_000_000_000
"""The largest number that a setting may have; as seconds, thirty years. Larger ones overflow timers and servers."""


class EnvSettings(BaseSettings):
    """Base of every settings model: environment first, then `.env`, then secrets in files; ignores unknown names."""

    model_config = SettingsConfigDict(
        env_prefix="NEXUS_",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        secrets_dir=SECRETS if SECRETS.is_dir() else None,
        extra="ignore",
        frozen=True,
        allow_inf_nan=False,
    )

    @field_validator("*")
    @classmethod
    def _is_not_too_large(cls, value: object) -> object:
        if isinstance(value, int | float) and value > MAX_NUMBER:
            raise ValueError(f"write a number up to {MAX_NUMBER}")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        del file_secret_settings
        return init_settings, env_settings, dotenv_settings, _SecretFiles(settings_cls)


class _SecretFiles(SecretsSettingsSource):
    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """An empty file sets nothing, as an empty variable does."""
        value, key, is_complex = super().get_field_value(field, field_name)
        return value or None, key, is_complex


class NatsSettings(EnvSettings):
    """The bus."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_NATS_")

    url: Annotated[str, AfterValidator(nats_address)] = Field(
        default="nats://127.0.0.1:4222", description="one URL or several, comma-separated"
    )
    user: str | None = None
    password: SecretStr | None = None
    credentials: str | None = Field(default=None, description="path of a .creds file")
    tls_ca: str | None = Field(default=None, description="path of a PEM: who vouches for the servers")
    tls_certificate: str | None = Field(default=None, description="path of a PEM: what this client shows to them")
    tls_key: str | None = Field(default=None, description="path of a PEM: the key of that certificate")
    connect_deadline: float = Field(default=30.0, gt=0, description="seconds to wait for the server at start")
    replicas: int = Field(default=1, ge=1, le=5, description="copies of each stream")
    ping_interval: int = Field(default=5, ge=1, description="seconds; a server that misses two is left")
    manage_streams: bool = Field(default=True, description="create and update the streams at start")

    @field_validator("password", "credentials", "tls_key")
    @classmethod
    def _fits_the_others(cls, value: object, info: ValidationInfo) -> object:
        if value is None:
            return value
        if info.field_name == "password" and info.data.get("user") is None:
            raise ValueError("whose? Set NEXUS_NATS_USER too")
        if info.field_name == "credentials" and info.data.get("user") is not None:
            raise ValueError("set either this or NEXUS_NATS_USER and NEXUS_NATS_PASSWORD")
        if info.field_name == "tls_key" and info.data.get("tls_certificate") is None:
            raise ValueError("of which certificate? Set NEXUS_NATS_TLS_CERTIFICATE too")
        return value

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The TLS context from these files, if one is named. Raises OSError or ValueError if one cannot be read."""
        if not (self.tls_ca or self.tls_certificate):
            return None
        return ReloadingContext.of(self.tls_ca, self.tls_certificate, self.tls_key)

    @property
    def servers(self) -> list[str]:
        """The URLs as a list."""
        return [url.strip() for url in self.url.split(",") if url.strip()]


class StreamSettings(EnvSettings):
    """Limits of the streams' sizes and ages; they are also applied to existing streams."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_STREAMS_")

    sizes: str = Field(default="", description="by stream, e.g. CHAT=16GiB,FACTS=8GiB; the others as in the contracts")
    ages: str = Field(
        default="", description="by stream, in s, m, h or d, e.g. CHAT=14d,TRACES=12h; CHAT's is the window of the log"
    )

    @field_validator("sizes")
    @classmethod
    def _sizes_can_be_read(cls, value: str) -> str:
        if invalid := [f"{name}={size}" for name, size in _by_stream(value) if not 2**20 <= _bytes(size) <= 2**60]:
            raise ValueError(f"{invalid[0]}: a stream needs 1MiB at least, and holds 1EiB at most")
        return value

    @field_validator("ages")
    @classmethod
    def _ages_can_be_read(cls, value: str) -> str:
        if invalid := [f"{name}={age}" for name, age in _by_stream(value) if _seconds(age) > MAX_NUMBER]:
            raise ValueError(f"{invalid[0]}: write {MAX_NUMBER // 86_400}d at most")
        return value

    def applied(self, streams: Iterable[Stream]) -> tuple[Stream, ...]:
        """The streams with these sizes and ages."""
        sizes = {name: _bytes(size) for name, size in _by_stream(self.sizes)}
        ages = {name: _seconds(age) for name, age in _by_stream(self.ages)}
        resized = (replace(stream, max_bytes=sizes.get(stream.name, stream.max_bytes)) for stream in streams)
        return tuple(
            replace(stream, **{"window" if stream.window else "max_age": ages[stream.name]})
            if stream.name in ages
            else stream
            for stream in resized
        )


_STREAM_NAMES = frozenset(stream.name for stream in STREAMS)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _by_stream(value: str) -> list[tuple[str, str]]:
    """Parses NAME=value,NAME=value; raises ValueError for an unknown stream."""
    entries: list[tuple[str, str]] = []
    for part in filter(None, (part.strip() for part in value.split(","))):
        name, _, setting = part.partition("=")
        if name.strip() not in _STREAM_NAMES or not setting.strip():
            raise ValueError(f"{part}: write STREAM=value with one of {', '.join(sorted(_STREAM_NAMES))}")
        entries.append((name.strip(), setting.strip()))
    return entries


def _bytes(value: str) -> int:
    try:
        return int(TypeAdapter(ByteSize).validate_python(value))
    except ValidationError:
        raise ValueError(f"{value}: write a number and a unit, such as 16GiB") from None


def _seconds(value: str) -> float:
    number, unit = value[:-1], value[-1]
    if unit not in _SECONDS or not number.replace(".", "", 1).isdigit() or float(number) <= 0:
        raise ValueError(f"{value}: write a number and s, m, h or d, such as 12h")
    return float(number) * _SECONDS[unit]


class RedisSettings(EnvSettings):
    """Redis or Valkey."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_REDIS_")

    url: Annotated[str, AfterValidator(redis_address)] = Field(
        default="redis://127.0.0.1:6379/0",
        description=(
            "or redis+sentinel://HOST:26379,HOST:26379/NAME-OF-THE-PRIMARY/0, or redis+cluster://HOST:6379,HOST:6379; "
            "rediss for redis: over TLS"
        ),
    )
    deadline: float = Field(default=1.0, gt=0, description="seconds for one command")


MAX_CONNECT_SECONDS = 3.0
"""The longest time to connect, in seconds: a check of a hanging server blocks the next check this long."""


class MongoSettings(EnvSettings):
    """MongoDB or a server that speaks its protocol."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_MONGODB_")

    url: Annotated[str, AfterValidator(mongodb_address)] = Field(default="mongodb://127.0.0.1:27017")
    database: str = Field(default="nexus", pattern=r"^[A-Za-z0-9_-]{1,63}$")
    deadline: float = Field(default=5.0, gt=0, description="seconds for one operation")

    @property
    def client_options(self) -> dict[str, Any]:
        """Options for all our clients.

        A write is acknowledged once a majority of the servers has it in its journal on disk: what users were told was
        done must survive a kill and a power cut. The driver does not retry writes: each is a compare-and-set or has a
        unique id, and only its caller knows what a second one would do.
        """
        milliseconds = int(self.deadline * 1000)
        timeouts = dict.fromkeys(("timeoutMS", "serverSelectionTimeoutMS"), milliseconds)
        connect_timeout = min(milliseconds, int(MAX_CONNECT_SECONDS * 1000))
        return {**timeouts, "connectTimeoutMS": connect_timeout, "w": "majority", "journal": True, "retryWrites": False}


class FileSettings(EnvSettings):
    """The object storage for files of conversations."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_FILES_")

    url: str | None = Field(
        default=None, description="a folder's path that all share, or s3://bucket; none: no files are taken"
    )
    endpoint: HttpAddress = Field(default="https://s3.amazonaws.com", description="the S3 server, without the bucket")
    region: str = "us-east-1"
    key: str | None = Field(default=None, description="the access key's id")
    secret: SecretStr | None = Field(default=None, description="its secret")
    company_megabytes: int = Field(default=10_000, ge=1, description="that the files of one company may have together")

    @field_validator("url")
    @classmethod
    def _is_a_folder_or_bucket(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("/", "s3://")):
            raise ValueError("NEXUS_FILES_URL: write a folder's whole path, or s3://bucket")
        return value


class TokenSettings(EnvSettings):
    """Keys of users' tokens, and of the principals that the gateway signs."""

    jwt_secret: SecretStr | None = Field(
        default=None, description="HS256; several, by commas, while one is replaced: the first one signs"
    )
    jwt_public_key: str | None = Field(
        default=None, description="PEM, RS256; \\n for line ends; several, one behind the other, while one is replaced"
    )
    jwt_jwks_url: HttpAddress | None = None
    jwt_audience: str | None = Field(default=None, description="checked when set")
    jwt_issuer: str | None = Field(default=None, description="checked when set")
    principal_key: SecretStr | None = Field(
        default=None,
        description="a shared secret (HS256, development), or PEM: Ed25519 private to sign, public to verify; several "
        "while one is replaced: the first one signs",
    )
    principal_ttl: int = Field(default=3600, gt=0, description="seconds a principal is valid")

    @field_validator("jwt_public_key")
    @classmethod
    def _is_a_pem(cls, value: str | None) -> str | None:
        if value is not None and not _pems(value):
            raise ValueError("write a PEM, from -----BEGIN PUBLIC KEY----- to -----END PUBLIC KEY-----")
        return value

    @property
    def jwt_secrets(self) -> list[str]:
        """The tokens' secrets as a list; the first one signs."""
        return [] if self.jwt_secret is None else [key for key in _keys(self.jwt_secret) if key]

    @property
    def jwt_public_keys(self) -> list[str]:
        """The tokens' public keys as a list."""
        text = (self.jwt_public_key or "").replace("\\n", "\n")
        return _pems(text) or ([text] if text else [])

    @property
    def principal_keys(self) -> list[str]:
        """The principals' keys as a list, unchanged; the first one signs."""
        if self.principal_key is None:
            return []
        text = self.principal_key.get_secret_value()
        keys = _pems(text) if "-----BEGIN" in text else [key for key in _keys(self.principal_key) if key]
        return keys if len(keys) > 1 else [text]


_MIN_KEY_CHARS = 32


def _are_long(value: SecretStr) -> SecretStr:
    if any(len(key) < _MIN_KEY_CHARS for key in _keys(value)):
        raise ValueError(f"each key needs {_MIN_KEY_CHARS} characters at least")
    return value


LongKeys = Annotated[SecretStr, AfterValidator(_are_long)]
"""One key, or several with commas between them."""


class MarkSettings(EnvSettings):
    """Keys with which gateway, agent and memory mark conversations' facts and journals (runtime.bus.marks)."""

    mark_key: LongKeys | None = Field(
        default=None,
        description="32 characters or more; several, by commas, while one is replaced: the first one marks",
    )

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The keys as a tuple; if it is empty, nothing is marked."""
        return () if self.mark_key is None else tuple(key.encode() for key in _keys(self.mark_key))


class SealSettings(EnvSettings):
    """Keys with which memory, agent and tool-executor seal companies' secrets (runtime.auth.seal)."""

    secrets_key: LongKeys | None = Field(
        default=None,
        description="32 characters or more; several, by commas, while one is replaced: the first one seals",
    )

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The keys as a tuple; if it is empty, companies cannot store secrets."""
        return () if self.secrets_key is None else tuple(key.encode() for key in _keys(self.secrets_key))


def _pems(text: str) -> list[str]:
    return re.findall(r"-----BEGIN .*?-----END [A-Z0-9 ]+-----", text, re.DOTALL)


def _keys(value: SecretStr) -> list[str]:
    return [key.strip() for key in value.get_secret_value().split(",")]


class LogSettings(EnvSettings):
    """Logs."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_LOG_")

    level: Literal["debug", "info", "warning", "error"] = Field(default="info")
    format: Literal["auto", "json", "text"] = Field(
        default="auto", description="auto: text on a terminal, JSON elsewhere"
    )


class TraceSettings(EnvSettings):
    """The traces of turns that are kept for `nexus trace`."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_TRACES_")

    sample: float = Field(default=1.0, ge=0, le=1, description="share of the traces that are recorded; 0: none")


class DrainSettings(EnvSettings):
    """The deadlines of a service's shutdown."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_DRAIN_")

    deadline: float = Field(default=20.0, gt=0, description="seconds from SIGTERM to exit, the notice included")
    notice: float = Field(
        default=0.0,
        ge=0,
        description="seconds from SIGTERM for which all is served as before while /readyz says draining, so that "
        "balancers send the next ones elsewhere",
    )

    @field_validator("notice")
    @classmethod
    def _leaves_time(cls, value: float, info: ValidationInfo) -> float:
        if value >= info.data.get("deadline", MAX_NUMBER):
            raise ValueError("it must be less than NEXUS_DRAIN_DEADLINE, or no time is left to finish anything")
        return value


class DevSettings(EnvSettings):
    """Development conveniences: demo company, demo users, demo site; loopback only."""

    dev: bool = Field(default=False)
    demo_origin: str | None = Field(default=None, description="the demo site's exact origin")

    @property
    def bind_host(self) -> str:
        """Returns the address on which servers listen: loopback in development, every address in a container."""
        return "127.0.0.1" if self.dev else "0.0.0.0"  # noqa: S104 - a container's own network
