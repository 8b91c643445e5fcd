"""What the locks bring in: known advisories, and a bill of materials of each service.

supply_chain.py audit             every locked version against deploy/advisories.json, and that npm's locks hold hashes
                                  (`make check`)
supply_chain.py advisories CLONE  writes that file from a clone of the advisory database (`make advisories`)
supply_chain.py sbom FOLDER       a CycloneDX document for each service's lock (`make sbom`)

The snapshot makes the audit the same everywhere, without a network; what it cannot know is said each time: how old it
is. A finding that does not apply stands in deploy/advisories-excepted.json with the reason and a day on which it is
looked at again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
LOCKS = (ROOT / "requirements.lock", ROOT / "deploy/bootstrap.lock", *sorted((ROOT / "deploy/locks").glob("*.lock")))
SNAPSHOT = ROOT / "deploy/advisories.json"
EXCEPTED = ROOT / "deploy/advisories-excepted.json"
NPM_LOCKS = tuple(
    sorted(
        lock
        for tree in ("tests/support", "services/gateway/tests/doors")
        for lock in ROOT.glob(f"{tree}/*/package-lock.json")
    )
)
"""Of packages that tests alone run. The advisory database knows none of npm: `make advisories` asks npm itself, where
its registry answers. That nothing is held against them here is an exception like any other, with reason and end."""
NPM = "npm"
"""The package, and the advisory, that this exception names."""
DATABASE = "https://github.com/pypa/advisory-database"
OLD = 30
"""Days after which the snapshot is called old, in every run."""
LONGEST_EXCEPTION = 180
"""Days for which a finding may be excepted at most."""
_LINE = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """A locked version that an advisory is about."""

    package: str
    version: str
    advisory: str
    about: str
    fixed: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}: {self.advisory}, fixed in {self.fixed or 'no version'}: {self.about}"


def locked(lock: Path) -> dict[str, str]:
    """Versions by name."""
    return {
        str(canonicalize_name(found[1])): found[2]
        for line in lock.read_text().splitlines()
        if (found := _LINE.match(line)) is not None
    }


def all_locked() -> set[tuple[str, str]]:
    """Every version that any lock installs."""
    return {pair for lock in LOCKS for pair in locked(lock).items()}


def npm_packages(locks: Sequence[Path] = NPM_LOCKS) -> tuple[int, list[str]]:
    """How many npm's locks name, and those that have no hash, or an address of their own: what is installed may then be
    something else."""
    entries = [
        (f"{lock.parent.name}: {name}", one)
        for lock in locks
        for name, one in json.loads(lock.read_text())["packages"].items()
        if name
    ]
    return len(entries), [name for name, one in entries if "integrity" not in one or "resolved" in one]


def findings(snapshot: Mapping[str, Any], installed: Sequence[tuple[str, str]] | set[tuple[str, str]]) -> list[Finding]:
    """Which of these versions an advisory of the snapshot is about."""
    return [
        Finding(name, version, one["id"], one["about"], ", ".join(one["fixed"]))
        for name, version in sorted(installed)
        for one in snapshot["packages"].get(name, ())
        if affected(version, one)
    ]


def affected(version: str, advisory: Mapping[str, Any]) -> bool:
    """Whether an advisory is about a version: it is listed, or within one of its ranges."""
    try:
        here = Version(version)
        return version in advisory["versions"] or any(
            Version(low) <= here and (high is None or here < Version(high)) for low, high in advisory["ranges"]
        )
    except InvalidVersion:
        return True


def faults_of(exceptions: Sequence[Mapping[str, str]], found: Sequence[Finding], today: date) -> list[str]:
    """What is wrong with the list of exceptions."""
    wrong: list[str] = []
    for one in exceptions:
        name = f"{one['package']} {one['advisory']}"
        left = (date.fromisoformat(one["until"]) - today).days
        if len(one["why"].split()) < 5:
            wrong.append(f"the exception for {name} does not say why")
        if left < 0:
            wrong.append(f"the exception for {name} ended on {one['until']}: look at it again")
        if left > LONGEST_EXCEPTION:
            wrong.append(f"the exception for {name} is for longer than {LONGEST_EXCEPTION} days")
        about = {(NPM, NPM), *((each.package, each.advisory) for each in found)}
        if (one["package"], one["advisory"]) not in about:
            wrong.append(f"the exception for {name} is for nothing: take it out")
    return wrong


def audit(today: date) -> tuple[list[str], list[str]]:
    """What fails, and what is only said."""
    snapshot = json.loads(SNAPSHOT.read_text())
    exceptions = json.loads(EXCEPTED.read_text())
    found = findings(snapshot, all_locked())
    excepted = {(one["package"], one["advisory"]) for one in exceptions}
    failed = [str(one) for one in found if (one.package, one.advisory) not in excepted]
    failed += faults_of(exceptions, found, today)
    packages, loose = npm_packages()
    if packages and (NPM, NPM) not in excepted:
        failed.append(f"{packages} npm packages are held against nothing, and {EXCEPTED.name} does not say why")
    failed += [f"{name} is locked without a hash, or with an address" for name in loose]
    age = (today - date.fromisoformat(snapshot["date"])).days
    said = [f"{len(all_locked())} locked versions, advisories up to {snapshot['date']}, {len(exceptions)} excepted"]
    said.append(f"{packages} npm packages, of tests alone, each by its hash; advisories about them: `make advisories`")
    if age > OLD:
        said.append(f"THE ADVISORIES ARE {age} DAYS OLD: what was found since is not known here. `make advisories`")
    return failed, said


def advisories(clone: Path) -> dict[str, Any]:
    """What the database says of the packages that are locked."""
    commit, day = subprocess.run(
        ["git", "-C", str(clone), "log", "-1", "--format=%H %cs"], check=True, capture_output=True, text=True
    ).stdout.split()
    packages: dict[str, list[dict[str, Any]]] = {}
    for name in sorted({name for name, _ in all_locked()}):
        for path in _files(clone, name):
            said = _advisory(cast("dict[str, Any]", yaml.safe_load(_read(clone, path))), name)
            if said is not None:
                packages.setdefault(name, []).append(said)
    licence = "CC BY 4.0, by the contributors of the Python Packaging Advisory Database; shortened"
    return {"database": DATABASE, "licence": licence, "commit": commit, "date": day, "packages": packages}


def _files(clone: Path, name: str) -> list[str]:
    listed = ["git", "-C", str(clone), "ls-tree", "-r", "--name-only", "HEAD", f"vulns/{name}/"]
    return subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()


def _read(clone: Path, path: str) -> str:
    shown = ["git", "-C", str(clone), "show", f"HEAD:{path}"]
    return subprocess.run(shown, check=True, capture_output=True, text=True).stdout


def _advisory(told: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    if "withdrawn" in told:
        return None
    ranges, fixed, versions = list[tuple[str, str | None]](), list[str](), set[str]()
    for one in told["affected"]:
        if canonicalize_name(one["package"]["name"]) != name:
            continue
        for low, high in _ranges(one.get("ranges", ())):
            ranges.append((low, high))
            fixed += [high] if high else []
        versions |= set() if ranges else {str(version) for version in one.get("versions", ())}
    about = " ".join(str(told.get("details", "")).split())[:160]
    return {"id": told["id"], "about": about, "ranges": ranges, "fixed": fixed, "versions": sorted(versions)}


def _ranges(given: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str | None]]:
    for one in given:
        if one["type"] != "ECOSYSTEM":
            continue
        low = "0"
        for event in one["events"]:
            if "introduced" in event:
                low = str(event["introduced"])
            elif "fixed" in event:
                yield low, str(event["fixed"])
        if "fixed" not in one["events"][-1]:
            yield low, None


def bill(name: str, lock: Path) -> dict[str, Any]:
    """A CycloneDX 1.6 document of one lock: each package with its version, address and, where it is installed here, its
    licence."""
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package}@{version}",
            "name": package,
            "version": version,
            "purl": f"pkg:pypi/{package}@{version}",
            **_licences(package),
        }
        for package, version in sorted(locked(lock).items())
    ]
    made = {"timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {**made, "component": {"type": "application", "bom-ref": name, "name": name, "version": "0.1.0"}},
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": [one["bom-ref"] for one in components]}],
    }


def _licences(package: str) -> dict[str, Any]:
    try:
        told = cast("Message", metadata.metadata(package))
    except metadata.PackageNotFoundError:
        return {}
    expression, named = str(told.get("License-Expression", "")), str(told.get("License", ""))
    if expression:
        return {"licenses": [{"expression": expression}]}
    listed = [one.rpartition(" :: ")[2] for one in told.get_all("Classifier") or () if one.startswith("License ::")]
    names = listed or ([named] if named and "\n" not in named and len(named) < 60 else [])
    return {"licenses": [{"license": {"name": one}} for one in names]} if names else {}


def main() -> int:
    """One of the three."""
    match sys.argv[1:]:
        case ["audit"]:
            failed, said = audit(datetime.now(UTC).date())
            for line in (*said, *failed):
                sys.stderr.write(f"nexus: {line}\n")
            return 1 if failed else 0
        case ["advisories", clone]:
            SNAPSHOT.write_text(json.dumps(advisories(Path(clone)), indent=1) + "\n")
        case ["sbom", folder]:
            Path(folder).mkdir(parents=True, exist_ok=True)
            for lock in sorted((ROOT / "deploy/locks").glob("*.lock")):
                document = json.dumps(bill(lock.stem, lock), indent=1)
                (Path(folder) / f"{lock.stem}.cdx.json").write_text(document + "\n")
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
