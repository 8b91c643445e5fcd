"""The settings that the local stack reads."""

from __future__ import annotations

from dataclasses import asdict, replace

from pydantic import Field, SecretStr, ValidationError

from nexus_cli.stack.datadir import DataDirectory, DevSecrets
from nexus_cli.stack.errors import BadSettingError
from runtime.errors import NotReadyError
from runtime.setting_names import dotenv
from runtime.settings import EnvSettings


class StackSettings(EnvSettings):
    """Addresses that replace embedded servers, and secrets that replace the development ones."""

    gateway_port: int = Field(default=8080, ge=0, le=65535, description="Port of the page; 0 takes a free one.")
    nats_url: str | None = Field(default=None, description="NATS servers to use instead of the embedded one.")
    redis_url: str | None = Field(default=None, description="Redis or Valkey to use instead of the embedded one.")
    mongodb_url: str | None = Field(default=None, description="MongoDB to use instead of the embedded server.")
    jwt_secret: SecretStr | None = Field(default=None, description="HS256 secret of user tokens; else one is made.")
    principal_key: SecretStr | None = Field(default=None, description="Key of the principals; else one is made.")

    mark_key: SecretStr | None = Field(default=None, description="Key of the marks of facts; else one is made.")
    secrets_key: SecretStr | None = Field(default=None, description="Seals companies' secrets; else one is made.")

    def urls(self) -> dict[str, str]:
        """The addresses that are set, by server name."""
        servers = {"nats": self.nats_url, "redis": self.redis_url, "mongodb": self.mongodb_url}
        return {name: url for name, url in servers.items() if url}

    def secrets_of(self, directory: DataDirectory) -> DevSecrets:
        """The secrets that are set; in place of the others those of the data directory."""
        stored = directory.secrets()
        keys: dict[str, SecretStr | None] = {name: getattr(self, name) for name in asdict(stored)}
        return replace(stored, **{name: key.get_secret_value() for name, key in keys.items() if key})


def read_settings() -> StackSettings:
    """Reads the current settings.

    Raises:
        BadSettingError: a variable has an invalid value; the message names the variable but not the value.
    """
    try:
        dotenv()
        return StackSettings()
    except NotReadyError as error:
        raise BadSettingError(str(error)) from None
    except ValidationError as error:
        problems = "; ".join(
            f"NEXUS_{'_'.join(map(str, fault['loc'])).upper()}: {fault['msg']}" for fault in error.errors()
        )
        raise BadSettingError(f"{problems}: correct it in the environment or in .env") from None
