"""What docker-compose.yml hands on: a setting that an operator writes into .env reaches the services that read it."""

from __future__ import annotations

import importlib
import re
from typing import Any, cast

import pytest
import yaml

from contracts.providers import KEYED
from runtime import settings as shared
from runtime.setting_names import settings_of
from runtime.settings import EnvSettings
from tests.deploy.exported import ROOT

SERVICES = ("gateway", "agent", "tool-executor", "memory", "market-adapter")
OF_EVERY_SERVICE = {"NatsSettings", "StreamSettings", "LogSettings", "TraceSettings", "DrainSettings"}
FOR_DEVELOPMENT = {"DevSettings"}
FILES = {"NEXUS_NATS_CREDENTIALS", "NEXUS_NATS_TLS_CA", "NEXUS_NATS_TLS_CERTIFICATE", "NEXUS_NATS_TLS_KEY"}
"""They are not in the images: whoever mounts one names it beside."""
BY_ROW = {"NEXUS_LLM_PROVIDER_KEYS", "NEXUS_LLM_PROVIDER_ADDRESSES"}
"""Read from variables that each provider's row names."""
THE_GATEWAYS = re.compile("NEXUS_JWT_.*|NEXUS_PRINCIPAL_TTL")
"""Who else has these settings reads the key of principals alone."""


def read_by(service: str) -> set[str]:
    """The variables of every setting that a service reads."""
    package = service.replace("-", "_")
    importlib.import_module(f"{package}.settings")
    sources = "".join(path.read_text() for path in (ROOT / "services" / service / "src").rglob("*.py"))
    found: set[str] = set()
    for model in EnvSettings.__subclasses__():
        name = model.__name__
        own = model.__module__ == f"{package}.settings"
        used = model.__module__ == shared.__name__ and (name in OF_EVERY_SERVICE or name in sources)
        if (own or used) and name not in FOR_DEVELOPMENT:
            # Of several names for one setting the first is the documented one.
            found |= {names[0] for names in settings_of(model).values() if names}
    if package == "agent":
        found |= {one.address_variable for one in KEYED.values()}
    if package != "gateway":
        found = {one for one in found if not THE_GATEWAYS.fullmatch(one)}
    return {one for one in found if not one.endswith("_PORT")} - FILES - BY_ROW


@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_that_a_service_reads_is_handed_on(service: str) -> None:
    compose = cast("dict[str, Any]", yaml.safe_load((ROOT / "docker-compose.yml").read_text()))["services"]
    assert read_by(service) - set(compose[service]["environment"]) == set()
