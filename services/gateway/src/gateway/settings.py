"""The gateway's own settings."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from gateway.domain.forwarded import Network
from gateway.domain.recovery import MAX_STREAM_DISTANCE
from runtime.conversation import UNTRIMMED_FACTS
from runtime.settings import EnvSettings


class GatewaySettings(EnvSettings):
    """The gateway's address and limits. With several gateways, each limit applies to each of them."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_GATEWAY_", populate_by_name=True)

    port: int = Field(default=8080, ge=0, le=65535, description="0: a free one, told in the log")
    messages_per_visitor: int = Field(default=20, ge=1, description="a minute")
    messages_per_address: int = Field(default=60, ge=1, description="a minute")
    conversations_per_address: int = Field(default=30, ge=1, description="new ones, an hour")
    tokens_per_address: int = Field(default=120, ge=1, description="visitors' tokens, a minute")
    connections_per_address: int = Field(default=1000, ge=1)
    connections_per_person: int = Field(default=50, ge=1)
    frames_per_ten_seconds: int = Field(default=600, ge=10, description="of one socket; more closes it (4029)")
    blocked_networks: Annotated[list[Network], NoDecode] = Field(
        default_factory=list[Network],
        description="addresses or networks, comma-separated, that get no chat",
    )
    trusted_proxies: Annotated[list[Network], NoDecode] = Field(
        default_factory=list[Network],
        description="addresses or networks, comma-separated, that say whose address they forward; nobody else may",
    )
    address_header: Literal["x-forwarded-for", "forwarded"] = Field(
        default="x-forwarded-for", description="the one header in which trusted proxies say it"
    )
    stream_distance: int = Field(
        default=MAX_STREAM_DISTANCE,
        ge=-1,
        le=UNTRIMMED_FACTS,
        description="facts of all conversations behind the log's end up to which a client's gap is read from the log",
    )
    question_seconds: float = Field(
        default=300.0, gt=0, le=3600, description="for an MCP client's user to answer what a call asks them"
    )
    hello_seconds: float = Field(default=10.0, gt=0, le=60)
    heartbeat_seconds: float = Field(default=25.0, gt=0, le=300)
    turn_deadline_seconds: float = Field(
        default=120.0,
        gt=0,
        validation_alias=AliasChoices("turn_deadline_seconds", "NEXUS_TURN_DEADLINE_SECONDS"),
        description="the agents': an answer that comes later has waited for one of them",
    )

    @field_validator("blocked_networks", "trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
