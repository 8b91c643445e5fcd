"""The settings of this service; those that services share (NATS, MongoDB, logs) are in runtime.settings."""

from pathlib import Path

from pydantic import Field

from runtime.settings import EnvSettings


class MarketSettings(EnvSettings):
    """The market-adapter's own settings."""

    port: int = Field(
        default=0, alias="NEXUS_MARKET_ADAPTER_PORT", ge=0, le=65535, description="health port; 0: a free one"
    )
    provider: str = Field(
        default="sample",
        alias="NEXUS_MARKET_PROVIDER",
        pattern=r"^(sample|demo|live|files:.+)$",
        description="where data come from: sample, demo, live, or files:DIR (a folder of CSV or Parquet files)",
    )
    crypto_exchange: str = Field(
        default="kraken",
        alias="NEXUS_CRYPTO_EXCHANGE",
        pattern=r"^[a-z0-9]{2,30}$",
        description="with the live provider: the exchange of crypto pairs, by its name in ccxt",
    )
    seconds_per_bar: float = Field(
        default=60.0,
        alias="NEXUS_SAMPLE_SECONDS_PER_BAR",
        ge=0,
        description="how long the sample clock stays at one bar; 0: frozen on the last bar",
    )

    @property
    def folder(self) -> Path | None:
        """The folder, if the source is files:DIR."""
        return Path(self.provider.removeprefix("files:")).expanduser() if self.provider.startswith("files:") else None

    @property
    def frozen(self) -> bool:
        """Whether the sample clock stays on the last bar."""
        return self.seconds_per_bar == 0
