"""docker-compose.yml, the Dockerfile and the NATS configuration say what the code says."""

from __future__ import annotations

import importlib
import re
import subprocess
import time
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from pydantic import ValidationError

from contracts.providers import KEYED, KEYS
from gateway.settings import GatewaySettings
from nexus_cli.stack.services import SERVICES, package, port_variable
from nexus_cli.stack.settings import StackSettings
from runtime import settings as shared
from runtime.auth.principals import Principal, PrincipalSigner, PrincipalVerifier
from runtime.setting_names import as_one_line, known_names, settings_of
from runtime.settings import (
    EnvSettings,
    FileSettings,
    MarkSettings,
    MongoSettings,
    NatsSettings,
    RedisSettings,
    SealSettings,
    TokenSettings,
)

ROOT = Path(__file__).resolve().parents[2]
OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"}
"""Read by the exporter of traces itself."""
OF_EVERY_SERVICE = {"NatsSettings", "StreamSettings", "LogSettings", "TraceSettings", "DrainSettings"}
FOR_DEVELOPMENT = {"DevSettings"}
FILES = {"NEXUS_NATS_CREDENTIALS", "NEXUS_NATS_TLS_CA", "NEXUS_NATS_TLS_CERTIFICATE", "NEXUS_NATS_TLS_KEY"}
"""They are not in the images: whoever mounts one names it beside."""
BY_ROW = {"NEXUS_LLM_PROVIDER_KEYS", "NEXUS_LLM_PROVIDER_ADDRESSES"}
"""Read from variables that each provider's row names."""
THE_GATEWAYS = re.compile("NEXUS_JWT_.*|NEXUS_PRINCIPAL_TTL")
"""Who else has these settings reads the key of principals alone."""
OFFICIAL = {"nats": "nats:", "redis": "redis:", "mongodb": "mongo:"}


def compose() -> dict[str, Any]:
    return cast(dict[str, Any], yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


def given(service: str) -> set[str]:
    """The variables that compose sets for a container, and those whose files it mounts."""
    found = compose()["services"][service]
    mounted = {one if isinstance(one, str) else one["target"] for one in found["secrets"]}
    assert not mounted & set(found["environment"])
    return mounted | set(found["environment"])


def variables(service: str) -> set[str]:
    """Every variable that the settings of the runtime and of the service read, and the providers' of the agent."""
    importlib.import_module(f"{package(service)}.settings")
    providers = set(KEYS.values()) | {provider.address_variable for provider in KEYED.values()}
    return {*known_names(), *OTLP, *(providers if service == "agent" else ())}


def read_by(service: str) -> set[str]:
    """The variables of every setting that a service reads."""
    own_settings = f"{package(service)}.settings"
    importlib.import_module(own_settings)
    sources = "".join(path.read_text() for path in (ROOT / "services" / service / "src").rglob("*.py"))
    found: set[str] = set()
    for model in EnvSettings.__subclasses__():
        name = model.__name__
        own = model.__module__ == own_settings
        used = model.__module__ == shared.__name__ and (name in OF_EVERY_SERVICE or name in sources)
        if (own or used) and name not in FOR_DEVELOPMENT:
            # Of several names for one setting the first is the documented one.
            found |= {names[0] for names in settings_of(model).values() if names}
    if service == "agent":
        found |= {provider.address_variable for provider in KEYED.values()}
    if service != "gateway":
        found = {one for one in found if not THE_GATEWAYS.fullmatch(one)}
    return {one for one in found if not one.endswith("_PORT")} - FILES - BY_ROW


def test_a_wrong_value_of_any_setting_is_refused_in_one_line_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in SERVICES:
        importlib.import_module(f"{package(service)}.settings")
    refused: set[str] = set()
    for model in EnvSettings.__subclasses__():
        for name, *_ in filter(None, settings_of(model).values()):
            with monkeypatch.context() as environment:
                environment.setenv(name, "bogus value")
                try:
                    model()
                except ValidationError as error:
                    line = as_one_line(error)
                    assert line is not None
                    assert name in line
                    assert "\n" not in line
                    refused.add(name)
    assert {*BY_ROW, "NEXUS_EMBEDDINGS_BASE_URL", "NEXUS_MONGODB_DATABASE", "NEXUS_NATS_REPLICAS"} <= refused


def test_compose_runs_the_official_servers_and_the_five_services() -> None:
    services = compose()["services"]
    assert set(services) == {*OFFICIAL, *SERVICES, "nexus"}
    for name, image in OFFICIAL.items():
        assert services[name]["image"].startswith(image)
        assert services[name]["volumes"]
        assert services[name]["stop_grace_period"] == "60s"
    assert all(services[name]["logging"]["options"] for name in services), "no log grows without an end"


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
        assert (server in service["depends_on"]) is (variable in given(name))
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
    everybodys = set(cast("dict[str, Any]", compose()["x-addresses"]))
    own = (NatsSettings, RedisSettings, MongoSettings, StackSettings)
    read = {name for model in own for names in settings_of(model).values() for name in names}
    # What gateways check of a token, `nexus token` puts into it.
    assert given("nexus") - read - everybodys == {"NEXUS_JWT_AUDIENCE", "NEXUS_JWT_ISSUER"}


def test_servers_are_checked_by_compose_and_services_by_their_image() -> None:
    services = compose()["services"]
    for name in OFFICIAL:
        assert {"test", "interval", "timeout", "retries"} <= set(services[name]["healthcheck"])
    assert re.search(r"^HEALTHCHECK .*healthcheck\.py", dockerfile(), re.MULTILINE)


@pytest.mark.parametrize("name", SERVICES)
def test_every_variable_that_compose_sets_is_read_by_somebody(name: str) -> None:
    assert given(name) - variables(name) == set()


@pytest.mark.parametrize("name", SERVICES)
def test_every_setting_that_a_service_reads_is_handed_on(name: str) -> None:
    assert read_by(name) - given(name) == set()


def test_every_secret_is_a_file_that_one_command_makes(tmp_path: Path) -> None:
    stack = compose()
    for name, service in stack["services"].items():
        for variable in service.get("environment", {}):
            assert re.search("PASSWORD|SECRET|KEY", variable) is None or variable.endswith("_FILE"), (
                f"{name} {variable}"
            )
    asked = {
        one if isinstance(one, str) else one["source"]
        for service in stack["services"].values()
        for one in service["secrets"]
    }
    assert stack["secrets"] == {name: {"file": f"${{SECRETS:-./secrets}}/{name}"} for name in asked}
    folder = tmp_path / "secrets"
    make = [str(ROOT / "deploy/make-secrets"), str(folder)]
    subprocess.run(make, check=True, timeout=60)
    made = {file.name: file.read_text() for file in folder.iterdir()}
    assert set(made) == asked
    assert folder.stat().st_mode & 0o777 == 0o700
    # Containers run as other users; whoever is not let into the folder reads none of them.
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o644}
    (folder / "NEXUS_JWT_SECRET").unlink()
    subprocess.run(make, check=True, timeout=60)
    again = {file.name: file.read_text() for file in folder.iterdir()}
    assert {name for name in asked if again[name] != made[name]} == {"NEXUS_JWT_SECRET"}


def test_services_take_the_secrets_that_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([str(ROOT / "deploy/make-secrets"), str(tmp_path)], check=True, timeout=60)
    monkeypatch.chdir(tmp_path)
    for model in (TokenSettings, MarkSettings, SealSettings, RedisSettings, MongoSettings, FileSettings):
        monkeypatch.setitem(model.model_config, "secrets_dir", tmp_path)
    signed = PrincipalSigner(TokenSettings()).sign(Principal("u", "user", "c", "free", int(time.time()) + 60))
    monkeypatch.setenv("NEXUS_PRINCIPAL_KEY", (tmp_path / "NEXUS_PRINCIPAL_PUBLIC_KEY").read_text())
    assert PrincipalVerifier(TokenSettings()).verify(signed).sub == "u"
    assert (len(MarkSettings().keys), len(SealSettings().keys), FileSettings().secret) == (1, 1, None)
    password = (tmp_path / "redis.conf").read_text().split()[1]
    assert RedisSettings().url == f"redis://:{password}@redis:6379/0"
    assert (tmp_path / "MONGODB_PASSWORD").read_text().strip() in MongoSettings().url


def test_the_gateway_trusts_the_stacks_own_network_and_nothing_else() -> None:
    stack = compose()
    (network,) = stack["networks"]["default"]["ipam"]["config"]
    trusted = stack["services"]["gateway"]["environment"]["NEXUS_GATEWAY_TRUSTED_PROXIES"]
    assert trusted == "${NEXUS_GATEWAY_TRUSTED_PROXIES:-" + network["subnet"] + "}"
    settings = GatewaySettings.model_validate({"trusted_proxies": network["subnet"]})
    assert [str(proxy) for proxy in settings.trusted_proxies] == [network["subnet"]]


def test_the_example_names_every_variable_that_compose_asks_for() -> None:
    asked = set(re.findall(r"[^$]\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
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
