"""Names of settings: a slip is found, and what is somebody else's is left alone."""

from itertools import combinations
from pathlib import Path

import pytest
from pydantic import BaseModel, Field, ValidationError
from pydantic_settings import SettingsConfigDict
from structlog.testing import capture_logs

from runtime import setting_names
from runtime.errors import NotReadyError
from runtime.setting_names import REMOVED, as_one_line, check_names, distance, known_names, misspelled
from runtime.settings import (
    DrainSettings,
    EnvSettings,
    MarkSettings,
    MongoSettings,
    NatsSettings,
    RedisSettings,
    StreamSettings,
    TokenSettings,
)


class NoSettings(BaseModel):
    a: int


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("NEXUS_NATS_REPLCAS", "NEXUS_NATS_REPLICAS"),
        ("NEXUS_NATS_RELPICAS", "NEXUS_NATS_REPLICAS"),
        ("NEXUS_REDIS_URI", "NEXUS_REDIS_URL"),
        ("NEXUS_NATS_PASWORD", "NEXUS_NATS_PASSWORD"),
        ("NEXUS_STREAMS_SIZE", "NEXUS_STREAMS_SIZES"),
        ("NEXUS_LOGLEVEL", "NEXUS_LOG_LEVEL"),
    ],
)
def test_a_name_that_is_nearly_a_settings_is_a_slip(written: str, meant: str) -> None:
    assert misspelled(frozenset({written}), known_names()) == {written: meant}


@pytest.mark.parametrize(
    "name",
    ["NEXUS_NATS_URL", "NEXUS_ENV", "NEXUS_URL", "NEXUS_TOKEN", "NEXUS_AGENT_SLOTS", "NEXUS_PRINCIPAL_PUBLIC_KEY"],
)
def test_a_setting_and_a_name_of_somebody_elses_are_none(name: str) -> None:
    assert misspelled(frozenset({name}), known_names()) == {}


def test_no_two_settings_are_so_near_that_one_could_be_a_slip_of_the_other() -> None:
    near = [pair for pair in combinations(sorted(known_names()), 2) if distance(*pair) <= 2]
    assert near == []


@pytest.mark.parametrize(
    ("one", "other", "far"), [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "", 3), ("ab", "xab", 1)]
)
def test_letters_are_counted(one: str, other: str, far: int) -> None:
    assert distance(one, other) == far == distance(other, one)


def test_a_setting_that_was_removed_is_told_of_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one whose name is near another's."""
    monkeypatch.setitem(REMOVED, "NEXUS_NATS_REPLICA", "set NEXUS_NATS_REPLICAS")
    monkeypatch.setenv("NEXUS_NATS_REPLICA", "3")
    with capture_logs() as told:
        check_names()
    assert [(one["event"], one["setting"], one["advice"]) for one in told] == [
        ("setting.removed", "NEXUS_NATS_REPLICA", "set NEXUS_NATS_REPLICAS")
    ]


def test_every_slip_is_named_with_what_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    check_names()
    monkeypatch.setenv("NEXUS_NATS_REPLCAS", "3")
    monkeypatch.setenv("nexus_redis_deadlin", "3")
    with pytest.raises(
        NotReadyError, match=r"NEXUS_NATS_REPLCAS .*NEXUS_NATS_REPLICAS\?; NEXUS_REDIS_DEADLIN .*DEADLINE\?"
    ):
        check_names()


@pytest.mark.parametrize(
    ("model", "variable", "value", "words"),
    [
        (NatsSettings, "NEXUS_NATS_REPLICAS", "s3cret", "Input should be a valid integer"),
        (NatsSettings, "NEXUS_NATS_CONNECT_DEADLINE", "inf", "Input should be a finite number"),
        (NatsSettings, "NEXUS_NATS_CONNECT_DEADLINE", "1e300", "write a number up to 1000000000"),
        (NatsSettings, "NEXUS_NATS_PING_INTERVAL", "9" * 30, "write a number up to 1000000000"),
        (StreamSettings, "NEXUS_STREAMS_AGES", "CHAT=99999999d", "CHAT=99999999d: write 11574d at most"),
        (StreamSettings, "NEXUS_STREAMS_SIZES", "CHAT=9999999TiB", "CHAT=9999999TiB: a stream needs 1MiB at least"),
        (StreamSettings, "NEXUS_STREAMS_AGES", "CHAT=12", "12: write a number and s, m, h or d"),
        (NatsSettings, "NEXUS_NATS_PASSWORD", "s3cret", "whose? Set NEXUS_NATS_USER too"),
        (NatsSettings, "NEXUS_NATS_TLS_KEY", "/s3cret", "of which certificate? Set NEXUS_NATS_TLS_CERTIFICATE too"),
        (DrainSettings, "NEXUS_DRAIN_NOTICE", "20", "it must be less than NEXUS_DRAIN_DEADLINE"),
        (TokenSettings, "NEXUS_JWT_PUBLIC_KEY", "s3cret", "write a PEM, from -----BEGIN PUBLIC KEY-----"),
        (RedisSettings, "NEXUS_REDIS_URL", "redis://h:s3cret/0", "write redis://HOST:PORT/0"),
        (RedisSettings, "NEXUS_REDIS_URL", "redis://h:6379/s3cret", "write redis://HOST:PORT/0"),
        (RedisSettings, "NEXUS_REDIS_URL", "rediss://h?ssl_ca_certs=/none", "its ssl_ca_certs names /none"),
        (RedisSettings, "NEXUS_REDIS_URL", "redis://:s3cret@h:70000/0", "its port 70000 is none"),
        (NatsSettings, "NEXUS_NATS_URL", "nats://h:4222,nats://h:0", "its port 0 is none"),
        (MongoSettings, "NEXUS_MONGODB_URL", "mongodb://[::1]:27017,h:99999/?w=1", "its port 99999 is none"),
        (MongoSettings, "NEXUS_MONGODB_URL", "mongo://u:s3cret@h:27017", "write mongodb://USER:PASSWORD@HOST"),
        (MongoSettings, "NEXUS_MONGODB_URL", "mongodb://h/?tlsCAFile=/none", "its tlsCAFile names /none"),
        (MarkSettings, "NEXUS_MARK_KEY", "s3cret", "each key needs 32 characters at least"),
    ],
)
def test_a_wrong_value_is_told_by_its_variable_and_not_shown(
    model: type[EnvSettings], variable: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValidationError) as raised:
        model()
    told = str(as_one_line(raised.value))
    assert told.startswith(f"{variable}: {words}")
    assert told.count(variable) == 1
    assert "s3cret" not in told


def test_another_models_error_is_not_a_settings() -> None:
    class Aliased(EnvSettings):
        model_config = SettingsConfigDict(env_prefix="NEXUS_TEST_")

        port: int = Field(default=0, validation_alias="NEXUS_TEST_ONE_PORT")

    with pytest.raises(ValidationError) as raised:
        Aliased.model_validate({"NEXUS_TEST_ONE_PORT": "x"})
    assert str(as_one_line(raised.value)).startswith("NEXUS_TEST_ONE_PORT: ")
    with pytest.raises(ValidationError) as other:
        NoSettings.model_validate({"a": "x"})
    assert as_one_line(other.value) is None


def test_a_secret_may_be_a_file_that_is_named_like_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(setting_names, "SECRETS", tmp_path)
    monkeypatch.setitem(NatsSettings.model_config, "secrets_dir", tmp_path)
    for name in ("NEXUS_NATS_PASSWORD", "NEXUS_NATS_USER"):
        (tmp_path / name).write_text("from-a-file\n")
    (tmp_path / "NEXUS_NATS_CREDENTIALS").write_text("\n")
    monkeypatch.setenv("NEXUS_NATS_USER", "from-the-environment")
    found = NatsSettings()
    assert found.password is not None
    assert (found.password.get_secret_value(), found.user) == ("from-a-file", "from-the-environment")
    assert found.credentials is None
    (tmp_path / "NEXUS_NATS_PASWORD").touch()
    with pytest.raises(NotReadyError, match="did you mean NEXUS_NATS_PASSWORD"):
        check_names()
    (tmp_path / "NEXUS_NATS_PASSWORD").write_bytes(b"\xff")
    with pytest.raises(NotReadyError, match="NEXUS_NATS_PASSWORD cannot be read"):
        check_names()
