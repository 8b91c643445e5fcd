"""Settings that more than one service reads: one small model a subsystem, from `NEXUS_…` variables and `.env`.

A service composes the ones it needs in its own settings.py and builds them in its composition root alone.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class EnvSettings(BaseSettings):
    """Base of every settings model: the environment first, then `.env`; unknown variables are someone else's."""

    model_config = SettingsConfigDict(
        env_prefix="NEXUS_",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )


class NatsSettings(EnvSettings):
    """The bus."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_NATS_")

    url: str = Field(default="nats://127.0.0.1:4222", description="one URL or several, comma-separated")
    user: str | None = None
    password: SecretStr | None = None
    credentials: str | None = Field(default=None, description="path of a .creds file")
    connect_deadline: float = Field(default=30.0, gt=0, description="seconds to wait for the server at start")
    replicas: int = Field(default=1, ge=1, le=5, description="copies of each stream")
    ping_interval: int = Field(default=5, ge=1, description="seconds; a server that misses two is left")
    manage_streams: bool = Field(default=True, description="create and update the streams at start")

    @property
    def servers(self) -> list[str]:
        """The URLs, one by one."""
        return [url.strip() for url in self.url.split(",") if url.strip()]


class RedisSettings(EnvSettings):
    """Redis or Valkey."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_REDIS_")

    url: str = Field(default="redis://127.0.0.1:6379/0")
    deadline: float = Field(default=1.0, gt=0, description="seconds for one command")


class MongoSettings(EnvSettings):
    """MongoDB or a server that speaks its protocol."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_MONGODB_")

    url: str = Field(default="mongodb://127.0.0.1:27017")
    database: str = Field(default="nexus")
    deadline: float = Field(default=5.0, gt=0, description="seconds for one operation")


class TokenSettings(EnvSettings):
    """What proves who is calling: users' tokens and the principals that the gateway signs."""

    jwt_secret: SecretStr | None = Field(default=None, description="HS256, development")
    jwt_public_key: str | None = Field(default=None, description="PEM, RS256; \\n for line ends")
    jwt_jwks_url: str | None = None
    jwt_audience: str | None = Field(default=None, description="checked when set")
    jwt_issuer: str | None = Field(default=None, description="checked when set")
    principal_key: SecretStr | None = Field(
        default=None,
        description="a shared secret (HS256, development), or PEM: Ed25519 private to sign, public to verify",
    )
    principal_ttl: int = Field(default=3600, gt=0, description="seconds a principal is valid")


class LogSettings(EnvSettings):
    """Logs."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_LOG_")

    level: Literal["debug", "info", "warning", "error"] = Field(default="info")
    format: Literal["auto", "json", "text"] = Field(
        default="auto", description="auto: text on a terminal, JSON elsewhere"
    )


class TraceSettings(EnvSettings):
    """What is kept of how turns went, for `nexus trace`."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_TRACES_")

    sample: float = Field(default=1.0, ge=0, le=1, description="share of the traces that are recorded; 0: none")


class DrainSettings(EnvSettings):
    """The end of a service."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_DRAIN_")

    deadline: float = Field(default=20.0, gt=0, description="seconds from SIGTERM to exit")


class DevSettings(EnvSettings):
    """Development conveniences: demo company, demo users, demo site; loopback only."""

    dev: bool = Field(default=False)
    demo_origin: str | None = Field(default=None, description="the demo site's exact origin")

    @property
    def bind_host(self) -> str:
        """Where servers listen: loopback in development, every address in a container."""
        return "127.0.0.1" if self.dev else "0.0.0.0"  # noqa: S104 - a container's own network
