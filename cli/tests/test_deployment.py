"""docker-compose.yml, the Dockerfile and the NATS configuration say what the code says."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from pydantic import AliasChoices
from pydantic_settings import BaseSettings

from contracts.providers import KEYED, KEYS
from gateway.settings import GatewaySettings
from nexus_cli.stack.services import SERVICES, package, port_variable
from nexus_cli.stack.settings import StackSettings
from runtime.settings import MongoSettings, NatsSettings, RedisSettings

ROOT = Path(__file__).resolve().parents[2]
OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"}
"""Read by the exporter of traces itself."""
OFFICIAL = {"nats": "nats:", "redis": "redis:", "mongodb": "mongo:"}


def compose() -> dict[str, Any]:
    return cast(dict[str, Any], yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


def variables(service: str) -> set[str]:
    """Every variable that the settings of the runtime and of the service read, and the providers' keys of the agent."""
    for module in ("runtime.settings", f"{package(service)}.settings"):
        importlib.import_module(module)
    keys = set[str]()
    if service == "agent":
        keys = set(KEYS.values()) | {one.address_variable for one in KEYED.values()}
    return keys | OTLP | {name for model in settings_models(BaseSettings) for name in names(model)}


def settings_models(base: type[BaseSettings]) -> Iterator[type[BaseSettings]]:
    for model in base.__subclasses__():
        yield model
        yield from settings_models(model)


def names(model: type[BaseSettings]) -> Iterator[str]:
    prefix = model.model_config.get("env_prefix", "")
    for field, info in model.model_fields.items():
        alias = info.validation_alias or info.alias
        if isinstance(alias, AliasChoices):
            yield from (choice for choice in alias.choices if isinstance(choice, str))
        yield (alias if isinstance(alias, str) else f"{prefix}{field}").upper()


def test_compose_runs_the_official_servers_and_the_five_services() -> None:
    services = compose()["services"]
    assert set(services) == {*OFFICIAL, *SERVICES, "nexus"}
    for name, image in OFFICIAL.items():
        assert services[name]["image"].startswith(image)
        assert services[name]["volumes"]


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_built_by_the_one_dockerfile_and_bounded(name: str) -> None:
    service = compose()["services"][name]
    assert service["build"] == {"context": ".", "dockerfile": "deploy/Dockerfile", "args": {"SERVICE": name}}
    assert service["deploy"]["replicas"] >= 1
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert {"nats", *({"memory"} - {name})} <= set(service["depends_on"]) <= {*SERVICES[name], "memory"}
    for server, variable in (("redis", "NEXUS_REDIS_URL"), ("mongodb", "NEXUS_MONGODB_URL")):
        assert (server in service["depends_on"]) is (variable in service["environment"])
    assert {condition["condition"] for condition in service["depends_on"].values()} == {"service_healthy"}
    assert service["environment"]["NEXUS_NATS_USER"] == name


def test_the_command_is_an_image_of_its_own_that_runs_only_when_asked() -> None:
    tool = compose()["services"]["nexus"]
    arguments = {"SERVICE": "nexus-cli", "PROJECT": "cli"}
    assert tool["build"] == {"context": ".", "dockerfile": "deploy/Dockerfile", "args": arguments}
    assert tool["profiles"] == ["tools"]
    assert tool["entrypoint"] == ["nexus"]
    assert tool["environment"]["NEXUS_NATS_USER"] == "operator"
    assert (tool["read_only"], tool["cap_drop"]) == (True, ["ALL"])
    # What every container is given, and the names that its own commands read.
    given = set(cast("dict[str, Any]", compose()["x-addresses"]))
    known = {name for model in (NatsSettings, RedisSettings, MongoSettings, StackSettings) for name in names(model)}
    assert set(tool["environment"]) - known - given == set()


def test_servers_are_checked_by_compose_and_services_by_their_image() -> None:
    services = compose()["services"]
    for name in OFFICIAL:
        assert {"test", "interval", "timeout", "retries"} <= set(services[name]["healthcheck"])
    assert re.search(r"^HEALTHCHECK .*healthcheck\.py", dockerfile(), re.MULTILINE)


@pytest.mark.parametrize("name", SERVICES)
def test_every_variable_that_compose_sets_is_read_by_somebody(name: str) -> None:
    assert set(compose()["services"][name]["environment"]) - variables(name) == set()


def test_no_secret_is_written_into_compose() -> None:
    for name, service in compose()["services"].items():
        for variable, value in service["environment"].items():
            if value is not None and re.search("PASSWORD|SECRET|KEY", variable):
                assert re.fullmatch(r"\$\{\w+(:\?[^}]+|:-)?\}", value), f"{name} {variable}"


def test_the_gateway_trusts_the_stacks_own_network_and_nothing_else() -> None:
    stack = compose()
    (network,) = stack["networks"]["default"]["ipam"]["config"]
    trusted = stack["services"]["gateway"]["environment"]["NEXUS_GATEWAY_TRUSTED_PROXIES"]
    assert trusted == "${NEXUS_GATEWAY_TRUSTED_PROXIES:-" + network["subnet"] + "}"
    settings = GatewaySettings.model_validate({"trusted_proxies": network["subnet"]})
    assert [str(one) for one in settings.trusted_proxies] == [network["subnet"]]


def test_the_example_names_every_variable_that_compose_asks_for() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    named = set(re.findall(r"^(\w+)=", (ROOT / "deploy/compose.env.example").read_text(), re.MULTILINE))
    assert asked - named == {"NEXUS_TURN_DEADLINE_SECONDS"}


def dockerfile() -> str:
    return (ROOT / "deploy/Dockerfile").read_text()


def test_the_image_has_two_stages_and_no_root() -> None:
    text = dockerfile()
    assert text.count("\nFROM ") == 2
    final = text.rsplit("\nFROM ", 1)[1]
    user = re.search(r"^USER (\d+):\d+$", final, re.MULTILINE)
    assert user is not None
    assert int(user.group(1)) > 0
    assert "--require-hashes -r deploy/locks/${SERVICE}.lock" in text


def test_everything_the_dockerfile_copies_is_there_and_sent_to_the_builder() -> None:
    ignored = (ROOT / "deploy/Dockerfile.dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    for source in re.findall(r"^COPY (?!--from)(\S+) ", dockerfile(), re.MULTILINE):
        for service, project in ({name: f"services/{name}" for name in SERVICES} | {"nexus-cli": "cli"}).items():
            assert (ROOT / source.replace("${SERVICE}", service).replace("${PROJECT}", project)).exists(), source
        source = source.replace("${PROJECT}", "services")
        assert any(source == path or source.startswith(f"{path}/") for path in sent), source


@pytest.mark.parametrize("name", SERVICES)
def test_the_image_starts_the_package_and_knows_its_port(name: str) -> None:
    assert port_variable(name) in dockerfile()
    assert (ROOT / "services" / name / "src" / package(name) / "__init__.py").exists()
    assert '"exec python -m' in dockerfile()
