"""The manifests, built and checked offline."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import kubernetes_validate
import pytest

from contracts.files import MAX_FILE_BYTES
from gateway.web.uploads import MAX_BYTES
from runtime.settings import DrainSettings
from tests.deploy.exported import ROOT, yaml_documents, yaml_of
from tests.deploy.kustomize import NotUnderstoodError, Object, build, containers

KUBERNETES = ROOT / "deploy/kubernetes"
OVERLAYS = {path.name: path for path in sorted((KUBERNETES / "overlays").iterdir())}
OTHERS = {
    "keda": KUBERNETES / "autoscaling/keda",
    "hpa": KUBERNETES / "autoscaling/hpa",
    "migrate": KUBERNETES / "migrate",
    "observability": ROOT / "deploy/observability",
}
SERVICES = {"gateway", "agent", "tool-executor", "memory", "market-adapter"}
CUSTOM: dict[str, Object] = {
    "ServiceMonitor": {
        "namespaceSelector": {"matchNames"},
        "selector": {"matchLabels"},
        "endpoints": [{"port", "path", "interval", "scrapeTimeout", "relabelings"}],
    },
    "ScaledObject": {
        "scaleTargetRef": {"name"},
        "minReplicaCount": int,
        "maxReplicaCount": int,
        "pollingInterval": int,
        "advanced": {"horizontalPodAutoscalerConfig": {"behavior"}},
        "triggers": [
            {
                "type": str,
                "metricType": str,
                "metadata": {"serverAddress", "query", "threshold", "ignoreNullValues"},
            }
        ],
    },
}
"""Kinds of other projects: no schema of theirs is here, so these are all fields that ours have."""
ADAPTER = {
    "default": bool,
    "external": [{"seriesQuery": str, "name": {"as"}, "resources": {"namespaced"}, "metricsQuery": str}],
}


def has_the_fields(found: Any, wanted: Any) -> bool:
    """Whether a value has these fields and no others."""
    if isinstance(wanted, type):
        return isinstance(found, wanted)
    if isinstance(wanted, list):
        return all(has_the_fields(one, cast("Any", wanted[0])) for one in found)
    if isinstance(wanted, dict):
        fields = cast("Object", wanted)
        return set(found) == set(fields) and all(has_the_fields(found[name], of) for name, of in fields.items())
    return set(found) == wanted


def as_autoscaler(scaled: Object) -> Object:
    """What KEDA makes of a ScaledObject: its behaviour has the fields of an autoscaler's."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", **scaled["spec"]["scaleTargetRef"]}
    behavior = scaled["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    spec = {"scaleTargetRef": target, "maxReplicas": scaled["spec"]["maxReplicaCount"], "behavior": behavior}
    metadata = {"name": scaled["metadata"]["name"]}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


def named(objects: list[Object], kind: str) -> dict[str, Object]:
    return {object["metadata"]["name"]: object for object in objects if object["kind"] == kind}


def pod(one: Object) -> Object:
    return cast("Object", one["spec"]["template"]["spec"])


def mounted(one: Object) -> list[tuple[str, str]]:
    """Of each file of a Secret in the containers of a workload: its key there, and its name in /run/secrets."""
    if "template" not in one.get("spec", {}):
        return []
    volumes = {volume["name"]: volume for volume in pod(one).get("volumes", [])}
    if "secrets" not in volumes:
        return []
    for container in containers(one):
        assert {"name": "secrets", "mountPath": "/run/secrets", "readOnly": True} in container["volumeMounts"]
    held = volumes["secrets"]
    sources = [source["secret"] for source in held["projected"]["sources"]] if "projected" in held else [held["secret"]]
    return [(item["key"], item["path"]) for source in sources for item in source["items"]]


@pytest.mark.parametrize("folder", [*OVERLAYS.values(), *OTHERS.values()], ids=[*OVERLAYS, *OTHERS])
def test_every_object_is_valid(folder: Path) -> None:
    objects = build(folder)
    identities = [(object["kind"], object["metadata"]["name"]) for object in objects]
    assert len(set(identities)) == len(identities)
    for object in objects:
        if object["kind"] in CUSTOM:
            assert set(object) == {"apiVersion", "kind", "metadata", "spec"}
            assert has_the_fields(object["spec"], CUSTOM[object["kind"]])
        checked = as_autoscaler(object) if object["kind"] == "ScaledObject" else object
        if checked["kind"] not in CUSTOM:
            kubernetes_validate.validate(checked, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_selects_pods_or_services_finds_some(overlay: str) -> None:
    """A misspelt label is no misspelt field: nothing else says that a service has no pods."""
    objects = build(OVERLAYS[overlay])
    labels = [
        object["spec"]["template"]["metadata"]["labels"] for object in objects if "template" in object.get("spec", {})
    ]
    services = [object["metadata"]["labels"] for object in objects if object["kind"] == "Service"]
    monitors = [one for one in build(OTHERS["observability"]) if one["kind"] == "ServiceMonitor"]
    asked = [
        object["spec"]["selector"] for object in objects if object["kind"] == "Service" and "selector" in object["spec"]
    ]
    asked += [
        object["spec"]["selector"]["matchLabels"] for object in objects if object["kind"] == "PodDisruptionBudget"
    ]
    for one in (object["spec"]["podSelector"] for object in objects if object["kind"] == "NetworkPolicy"):
        asked += [one["matchLabels"]] if "matchLabels" in one else []
        asked += [{said["key"]: value} for said in one.get("matchExpressions", []) for value in said["values"]]
    for wanted in asked:
        assert any(wanted.items() <= there.items() for there in labels), wanted
    for monitor in monitors:
        assert any(monitor["spec"]["selector"]["matchLabels"].items() <= there.items() for there in services), monitor


def test_a_misspelt_field_is_found() -> None:
    deployment = named(build(OVERLAYS["three-replicas"]), "Deployment")["agent"]
    pod(deployment)["terminationGracePeriodSecond"] = 30
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("folder", [*OVERLAYS.values(), *OTHERS.values()], ids=[*OVERLAYS, *OTHERS])
def test_kubectl_builds_the_same_where_it_is(folder: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        # The builder itself is what there is then; the other tests go by it.
        assert build(folder)
        return
    run = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True, timeout=60, check=True)
    theirs = [one for one in yaml_documents(run.stdout) if one is not None]

    def key(one: Any) -> tuple[str, str]:
        return one["kind"], one["metadata"]["name"]

    assert sorted(theirs, key=key) == sorted(build(folder), key=key)


def test_what_the_builder_does_not_know_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\nnamePrefix: x-\n")
    with pytest.raises(NotUnderstoodError, match="namePrefix"):
        build(tmp_path)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_service_is_hardened_probed_and_has_time_to_drain(overlay: str) -> None:
    objects = build(OVERLAYS[overlay])
    deployments = named(objects, "Deployment")
    assert set(deployments) == SERVICES
    for name, deployment in deployments.items():
        spec = pod(deployment)
        (container,) = containers(deployment)
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["runAsUser"] == 10001
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not spec["automountServiceAccountToken"]
        assert spec["serviceAccountName"] in named(objects, "ServiceAccount")
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container)
        assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
        assert {"requests", "limits"} == set(container["resources"])
        assert {name for of in container["resources"].values() for name in of} == {"cpu", "memory"}
        said = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])[1]
        drain = float(named(objects, "ConfigMap")["nexus"]["data"]["NEXUS_DRAIN_DEADLINE"])
        assert drain == DrainSettings(_env_file=None).deadline  # pyright: ignore[reportCallIssue]
        assert spec["terminationGracePeriodSeconds"] >= float(said) + drain + 5
        budget = named(objects, "PodDisruptionBudget")[name]
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert budget["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
        for one in spec["topologySpreadConstraints"]:
            assert one["labelSelector"]["matchLabels"].items() <= labels.items()


def test_services_get_what_compose_gives_them() -> None:
    compose = yaml_of((ROOT / "docker-compose.yml").read_text())["services"]
    objects = build(OVERLAYS["three-replicas"])
    shared = set(named(objects, "ConfigMap")["nexus"]["data"])
    for name, deployment in named(objects, "Deployment").items():
        (container,) = containers(deployment)
        given = {one["name"] for one in container["env"]} | {name for _, name in mounted(deployment)} | shared
        tuned = {"NEXUS_DRAIN_NOTICE", "NEXUS_LLM_CHAIN", "NEXUS_TURN_DEADLINE_SECONDS", "NEXUS_MARKET_PROVIDER"}
        # What compose only hands on, where somebody has set it, is put into the ConfigMap.
        set_there = {variable for variable, value in compose[name]["environment"].items() if value is not None}
        set_there |= {one if isinstance(one, str) else one["target"] for one in compose[name]["secrets"]}
        assert set_there - tuned <= given, name


def test_every_secret_is_a_file_that_the_same_command_makes_as_for_compose() -> None:
    objects = [one for folder in (*OVERLAYS.values(), OTHERS["migrate"]) for one in build(folder)]
    assert "secretKeyRef" not in str(objects)
    made = set(yaml_of((ROOT / "docker-compose.yml").read_text())["secrets"])
    assert {key for object in objects for key, _ in mounted(object)} == made


def test_every_service_may_reach_what_it_needs_and_nothing_takes_visitors_but_the_gateway() -> None:
    policies = named(build(OVERLAYS["one-machine"]), "NetworkPolicy")
    ports = {
        name: {port["port"] for rule in item["spec"].get("egress", []) for port in rule.get("ports", [])}
        for name, item in policies.items()
    }
    assert {53, 4222, 4318} == ports["nexus"]
    assert ports["to-redis"] == {6379, 26379}
    assert ports["to-mongodb"] == {27017}
    users = {
        name: set(policies[name]["spec"]["podSelector"]["matchExpressions"][0]["values"])
        for name in ("to-redis", "to-mongodb", "gateway")
    }
    needs: dict[str, set[str]] = {"to-redis": set(), "to-mongodb": set(), "gateway": {"gateway"}}
    for name, deployment in named(build(OVERLAYS["one-machine"]), "Deployment").items():
        given = {path for _, path in mounted(deployment)}
        needs["to-redis"] |= {name} if "NEXUS_REDIS_URL" in given else set()
        needs["to-mongodb"] |= {name} if "NEXUS_MONGODB_URL" in given else set()
    assert users == needs


def test_the_migration_runs_with_the_operators_user_and_reaches_the_bus() -> None:
    (job,) = build(OTHERS["migrate"])
    (container,) = containers(job)
    assert container["args"] == ["nexus", "migrate"]
    assert {one["name"]: one.get("value") for one in container["env"]}["NEXUS_NATS_USER"] == "operator"
    chosen = named(build(OVERLAYS["three-replicas"]), "NetworkPolicy")["nexus"]["spec"]["podSelector"]["matchLabels"]
    assert chosen.items() <= job["spec"]["template"]["metadata"]["labels"].items()


def test_metrics_and_health_stay_in_the_cluster() -> None:
    objects = build(OVERLAYS["three-replicas"])
    (rule,) = named(objects, "Ingress")["gateway"]["spec"]["rules"]
    closed = {path["path"] for path in rule["http"]["paths"] if path["backend"]["service"]["name"] == "closed"}
    assert closed == {"/metrics", "/readyz", "/healthz"}
    assert "selector" not in named(objects, "Service")["closed"]["spec"]


def test_what_the_gateway_takes_in_comes_through_the_ingress() -> None:
    annotations = named(build(OVERLAYS["three-replicas"]), "Ingress")["gateway"]["metadata"]["annotations"]
    most = int(annotations["nginx.ingress.kubernetes.io/proxy-body-size"].removesuffix("m")) * 1024 * 1024
    assert most > max(MAX_BYTES, MAX_FILE_BYTES)
    # A websocket says nothing for as long as nobody writes.
    for way in ("read", "send"):
        assert int(annotations[f"nginx.ingress.kubernetes.io/proxy-{way}-timeout"]) >= 3600


@pytest.mark.parametrize("kind", ["keda", "hpa"])
def test_scalers_name_deployments_and_queries_name_metrics(kind: str) -> None:
    deployments = named(build(OVERLAYS["three-replicas"]), "Deployment")
    scalers = build(OTHERS[kind])
    assert {scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers} == set(deployments) - {"market-adapter"}
    if kind == "hpa":
        rules = yaml_of((OTHERS["hpa"] / "adapter-values.yaml").read_text())["rules"]
        assert has_the_fields(rules, ADAPTER)
        adapter = rules["external"]
        asked = {metric["external"]["metric"]["name"] for scaler in scalers for metric in scaler["spec"]["metrics"]}
        assert asked == {one["name"]["as"] for one in adapter}


def test_nats_own_chart_gets_every_user_and_what_the_configuration_says() -> None:
    values = yaml_of((KUBERNETES / "nats-values.yaml").read_text())
    configuration = (ROOT / "deploy/nats/nats.conf").read_text()
    assert set(values["container"]["env"]) == set(re.findall(r"\$(NATS_\w+_PASSWORD)", configuration))
    assert values["config"]["jetstream"]["merge"]["sync_interval"] == "always"
    assert "max_payload: 1MB" in configuration
    for name in ("write_deadline", "lame_duck_duration", "ping_interval"):
        assert f'{name}: "{values["config"]["merge"][name]}"' in configuration
    assert values["config"]["cluster"]["replicas"] == 3
