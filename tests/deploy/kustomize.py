"""Builds an overlay as `kubectl kustomize` does, with the features that the manifests use; any other is an error.

Where kubectl is installed, a test compares the two.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from tests.deploy.exported import yaml_documents, yaml_of

Object = dict[str, Any]
IDENTITY = {"apiVersion", "kind"}
KEYS = IDENTITY | {
    "resources",
    "namespace",
    "labels",
    "replicas",
    "images",
    "patches",
    "configMapGenerator",
    "generatorOptions",
}


class NotUnderstoodError(Exception):
    """The kustomization uses a feature that this builder does not know."""


def build(folder: Path) -> list[Object]:
    """Builds all objects of a folder with a kustomization.yaml."""
    kustomization = cast("Object", yaml_of((folder / "kustomization.yaml").read_text()))
    if unknown := set(kustomization) - KEYS:
        raise NotUnderstoodError(f"{folder}: {', '.join(sorted(unknown))}")
    objects: list[Object] = []
    for name in kustomization.get("resources", []):
        path = (folder / name).resolve()
        objects += build(path) if path.is_dir() else load(path)
    if kustomization.get("configMapGenerator") and kustomization.get("generatorOptions") != {
        "disableNameSuffixHash": True
    }:
        raise NotUnderstoodError(f"{folder}: names of config maps with a hash")
    objects += [_config_map(folder, one) for one in kustomization.get("configMapGenerator", [])]
    for patch in kustomization.get("patches", []):
        _patch(objects, patch)
    for object in objects:
        if "namespace" in kustomization:
            object["metadata"]["namespace"] = kustomization["namespace"]
        for labels in kustomization.get("labels", []):
            if set(labels) != {"pairs"}:
                raise NotUnderstoodError(f"{folder}: labels in selectors or templates")
            object["metadata"].setdefault("labels", {}).update(labels["pairs"])
    _each(kustomization.get("replicas", []), objects, _set_replicas)
    _each(kustomization.get("images", []), objects, _set_image)
    return objects


def load(path: Path) -> list[Object]:
    """Reads the objects of one file."""
    return [document for document in yaml_documents(path.read_text()) if document is not None]


def _config_map(folder: Path, generator: Object) -> Object:
    if unknown := set(generator) - {"name", "literals", "files", "options"}:
        raise NotUnderstoodError(f"{folder}: {', '.join(sorted(unknown))}")
    data = dict(literal.split("=", 1) for literal in generator.get("literals", []))
    for name in generator.get("files", []):
        data[Path(name).name] = (folder / name).read_text()
    metadata: Object = {"name": generator["name"], **generator.get("options", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _patch(objects: list[Object], patch: Object) -> None:
    target = patch["target"]
    version = "/".join(target[part] for part in ("group", "version") if part in target)
    wanted = {"apiVersion": version, "kind": target["kind"]}
    found = [
        target_object
        for target_object in objects
        if wanted.items() <= target_object.items()
        and target.get("name", target_object["metadata"]["name"]) == target_object["metadata"]["name"]
    ]
    if not found or set(target) - {"group", "version", "kind", "name"}:
        raise NotUnderstoodError(f"no object for the patch of {target}")
    for operation in yaml_of(patch["patch"]):
        for target_object in found:
            _operate(target_object, operation)


def _operate(node: Any, operation: Object) -> None:
    """Applies one operation of RFC 6902: add or replace."""
    *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
    for part in parents:
        node = cast("Any", node[int(part)] if isinstance(node, list) else node[part])
    what = operation["op"]
    if isinstance(node, dict) and (what == "add" or (what == "replace" and last in node)):
        node[last] = operation["value"]
    elif isinstance(node, list) and what == "replace":
        node[int(last)] = operation["value"]
    else:
        raise NotUnderstoodError(f"{what} at {operation['path']}")


def _each(rules: list[Object], objects: list[Object], change: Callable[[Object, Object], bool]) -> None:
    for rule in rules:
        if not sum(change(found, rule) for found in objects):
            raise NotUnderstoodError(f"nothing is called {rule['name']}")


def _set_replicas(workload: Object, rule: Object) -> bool:
    if workload["kind"] not in {"Deployment", "StatefulSet"} or workload["metadata"]["name"] != rule["name"]:
        return False
    workload["spec"]["replicas"] = rule["count"]
    return True


def _set_image(workload: Object, rule: Object) -> bool:
    changed = False
    for container in containers(workload):
        if container["image"].partition(":")[0] == rule["name"]:
            container["image"] = f"{rule.get('newName', rule['name'])}:{rule['newTag']}"
            changed = True
    return changed


def containers(workload: Object) -> Iterator[Object]:
    """Yields the containers of a Deployment or StatefulSet."""
    yield from workload.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
