"""Builds an overlay as `kubectl kustomize` does, for what the manifests use of it; anything else is an error.

Where kubectl is installed, a test holds the two against each other.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import yaml

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
    """The kustomization uses something that this builder does not know."""


def build(folder: Path) -> list[Object]:
    """All objects of a folder with a kustomization.yaml."""
    said = cast("Object", yaml.safe_load((folder / "kustomization.yaml").read_text()))
    if unknown := set(said) - KEYS:
        raise NotUnderstoodError(f"{folder}: {', '.join(sorted(unknown))}")
    objects: list[Object] = []
    for name in said.get("resources", []):
        path = (folder / name).resolve()
        objects += build(path) if path.is_dir() else load(path)
    if said.get("configMapGenerator") and said.get("generatorOptions") != {"disableNameSuffixHash": True}:
        raise NotUnderstoodError(f"{folder}: names of config maps with a hash")
    objects += [_config_map(folder, one) for one in said.get("configMapGenerator", [])]
    for patch in said.get("patches", []):
        _patch(objects, patch)
    for one in objects:
        if "namespace" in said:
            one["metadata"]["namespace"] = said["namespace"]
        for labels in said.get("labels", []):
            if set(labels) != {"pairs"}:
                raise NotUnderstoodError(f"{folder}: labels in selectors or templates")
            one["metadata"].setdefault("labels", {}).update(labels["pairs"])
    _each(said.get("replicas", []), objects, _set_replicas)
    _each(said.get("images", []), objects, _set_image)
    return objects


def load(path: Path) -> list[Object]:
    """The objects of one file."""
    return [one for one in yaml.safe_load_all(path.read_text()) if one is not None]


def _config_map(folder: Path, said: Object) -> Object:
    if unknown := set(said) - {"name", "literals", "files", "options"}:
        raise NotUnderstoodError(f"{folder}: {', '.join(sorted(unknown))}")
    data = dict(literal.split("=", 1) for literal in said.get("literals", []))
    for name in said.get("files", []):
        data[Path(name).name] = (folder / name).read_text()
    metadata: Object = {"name": said["name"], **said.get("options", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _patch(objects: list[Object], said: Object) -> None:
    target = said["target"]
    version = "/".join(target[part] for part in ("group", "version") if part in target)
    wanted = {"apiVersion": version, "kind": target["kind"]}
    found = [
        one
        for one in objects
        if wanted.items() <= one.items() and target.get("name", one["metadata"]["name"]) == one["metadata"]["name"]
    ]
    if not found or set(target) - {"group", "version", "kind", "name"}:
        raise NotUnderstoodError(f"no object for the patch of {target}")
    for operation in yaml.safe_load(said["patch"]):
        for one in found:
            _operate(one, operation)


def _operate(one: Any, operation: Object) -> None:
    """RFC 6902's add and replace."""
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
    for part in way:
        one = cast("Any", one[int(part)] if isinstance(one, list) else one[part])
    what = operation["op"]
    if isinstance(one, dict) and (what == "add" or (what == "replace" and last in one)):
        one[last] = operation["value"]
    elif isinstance(one, list) and what == "replace":
        one[int(last)] = operation["value"]
    else:
        raise NotUnderstoodError(f"{what} at {operation['path']}")


def _each(said: list[Object], objects: list[Object], change: Callable[[Object, Object], bool]) -> None:
    for one in said:
        if not sum(change(found, one) for found in objects):
            raise NotUnderstoodError(f"nothing is called {one['name']}")


def _set_replicas(found: Object, said: Object) -> bool:
    if found["kind"] not in {"Deployment", "StatefulSet"} or found["metadata"]["name"] != said["name"]:
        return False
    found["spec"]["replicas"] = said["count"]
    return True


def _set_image(found: Object, said: Object) -> bool:
    changed = False
    for container in containers(found):
        if container["image"].partition(":")[0] == said["name"]:
            container["image"] = f"{said.get('newName', said['name'])}:{said['newTag']}"
            changed = True
    return changed


def containers(found: Object) -> Iterator[Object]:
    """Of a Deployment or StatefulSet."""
    yield from found.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
