"""Checks the locked packages: known advisories, and a bill of materials for each service.

supply_chain.py audit             every locked version against deploy/advisories.json, and that npm's locks have hashes
                                  (`make check`)
supply_chain.py advisories CLONE  writes that file from a clone of the advisory database (`make advisories`)
supply_chain.py sbom FOLDER       a CycloneDX document for each service's lock (`make sbom`)

With the snapshot the audit is the same everywhere and needs no network; it reports each time how old the snapshot is. A
finding that does not apply is listed in deploy/advisories-excepted.json with the reason and a date for its review.
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
"""Locks of packages that only tests run. The advisory database has none for npm: `make advisories` asks npm itself, if
its registry answers. Here they are not checked, which is an exception like any other, with a reason and an end."""
NPM = "npm"
"""The name of the package and of the advisory in that exception."""
DATABASE = "https://github.com/pypa/advisory-database"
MAX_SNAPSHOT_AGE_DAYS = 30
"""Days after which every run reports the snapshot as old."""
MAX_EXCEPTION_DAYS = 180
"""The maximum number of days for which a finding may be excepted."""
_LINE = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """A locked version that an advisory affects."""

    package: str
    version: str
    advisory: str
    about: str
    fixed: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}: {self.advisory}, fixed in {self.fixed or 'no version'}: {self.about}"


def locked(lock: Path) -> dict[str, str]:
    """Returns the locked versions by package name."""
    return {
        str(canonicalize_name(match[1])): match[2]
        for line in lock.read_text().splitlines()
        if (match := _LINE.match(line)) is not None
    }


def all_locked() -> set[tuple[str, str]]:
    """Returns every package and version that any lock installs."""
    return {pair for lock in LOCKS for pair in locked(lock).items()}


def npm_packages(locks: Sequence[Path] = NPM_LOCKS) -> tuple[int, list[str]]:
    """Returns the number of packages in npm's locks, and those without a hash, or with an address of their own, for
    which something else might be installed."""
    entries = [
        (f"{lock.parent.name}: {name}", entry)
        for lock in locks
        for name, entry in json.loads(lock.read_text())["packages"].items()
        if name
    ]
    return len(entries), [name for name, entry in entries if "integrity" not in entry or "resolved" in entry]


def findings(snapshot: Mapping[str, Any], installed: Sequence[tuple[str, str]] | set[tuple[str, str]]) -> list[Finding]:
    """Returns the versions that an advisory of the snapshot affects."""
    return [
        Finding(name, version, advisory["id"], advisory["about"], ", ".join(advisory["fixed"]))
        for name, version in sorted(installed)
        for advisory in snapshot["packages"].get(name, ())
        if affected(version, advisory)
    ]


def affected(version: str, advisory: Mapping[str, Any]) -> bool:
    """Whether an advisory affects a version: it is listed, or within one of the ranges."""
    try:
        parsed = Version(version)
        return version in advisory["versions"] or any(
            Version(low) <= parsed and (high is None or parsed < Version(high)) for low, high in advisory["ranges"]
        )
    except InvalidVersion:
        return True


def faults_of(exceptions: Sequence[Mapping[str, str]], found: Sequence[Finding], today: date) -> list[str]:
    """Returns what is wrong with the list of exceptions."""
    faults: list[str] = []
    for exception in exceptions:
        name = f"{exception['package']} {exception['advisory']}"
        days_left = (date.fromisoformat(exception["until"]) - today).days
        if len(exception["why"].split()) < 5:
            faults.append(f"the exception for {name} does not say why")
        if days_left < 0:
            faults.append(f"the exception for {name} ended on {exception['until']}: look at it again")
        if days_left > MAX_EXCEPTION_DAYS:
            faults.append(f"the exception for {name} is for longer than {MAX_EXCEPTION_DAYS} days")
        excepted = {(NPM, NPM), *((finding.package, finding.advisory) for finding in found)}
        if (exception["package"], exception["advisory"]) not in excepted:
            faults.append(f"the exception for {name} is for nothing: take it out")
    return faults


def audit(today: date) -> tuple[list[str], list[str]]:
    """Returns the failures, and notes that do not fail the audit."""
    snapshot = json.loads(SNAPSHOT.read_text())
    exceptions = json.loads(EXCEPTED.read_text())
    all_findings = findings(snapshot, all_locked())
    excepted = {(exception["package"], exception["advisory"]) for exception in exceptions}
    failed = [str(finding) for finding in all_findings if (finding.package, finding.advisory) not in excepted]
    failed += faults_of(exceptions, all_findings, today)
    packages, unhashed = npm_packages()
    if packages and (NPM, NPM) not in excepted:
        failed.append(f"{packages} npm packages are held against nothing, and {EXCEPTED.name} does not say why")
    failed += [f"{name} is locked without a hash, or with an address" for name in unhashed]
    age = (today - date.fromisoformat(snapshot["date"])).days
    notes = [f"{len(all_locked())} locked versions, advisories up to {snapshot['date']}, {len(exceptions)} excepted"]
    notes.append(f"{packages} npm packages, of tests alone, each by its hash; advisories about them: `make advisories`")
    if age > MAX_SNAPSHOT_AGE_DAYS:
        notes.append(f"THE ADVISORIES ARE {age} DAYS OLD: what was found since is not known here. `make advisories`")
    return failed, notes


def advisories(clone: Path) -> dict[str, Any]:
    """Returns the database's advisories about the locked packages."""
    commit, day = _git(clone, "log", "-1", "--format=%H %cs").split()
    packages: dict[str, list[dict[str, Any]]] = {}
    for name in sorted({name for name, _ in all_locked()}):
        for path in _git(clone, "ls-tree", "-r", "--name-only", "HEAD", f"vulns/{name}/").split():
            text = _git(clone, "show", f"HEAD:{path}")
            advisory = _advisory(cast("dict[str, Any]", yaml.safe_load(text)), name)
            if advisory is not None:
                packages.setdefault(name, []).append(advisory)
    licence = "CC BY 4.0, by the contributors of the Python Packaging Advisory Database; shortened"
    return {"database": DATABASE, "licence": licence, "commit": commit, "date": day, "packages": packages}


def _git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True, text=True).stdout


def _advisory(entry: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    if "withdrawn" in entry:
        return None
    ranges, fixed, versions = list[tuple[str, str | None]](), list[str](), set[str]()
    for affected in entry["affected"]:
        if canonicalize_name(affected["package"]["name"]) != name:
            continue
        for low, high in _ranges(affected.get("ranges", ())):
            ranges.append((low, high))
            fixed += [high] if high else []
        versions |= set() if ranges else {str(version) for version in affected.get("versions", ())}
    about = " ".join(str(entry.get("details", "")).split())[:160]
    return {"id": entry["id"], "about": about, "ranges": ranges, "fixed": fixed, "versions": sorted(versions)}


def _ranges(ranges: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str | None]]:
    for version_range in ranges:
        if version_range["type"] != "ECOSYSTEM":
            continue
        low = "0"
        for event in version_range["events"]:
            if "introduced" in event:
                low = str(event["introduced"])
            elif "fixed" in event:
                yield low, str(event["fixed"])
        if "fixed" not in version_range["events"][-1]:
            yield low, None


def bill(name: str, lock: Path) -> dict[str, Any]:
    """Returns a CycloneDX 1.6 document of one lock: each package with its version, address and, if it is installed
    here, its licence."""
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
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": name, "name": name, "version": "0.1.0"},
        },
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def _licences(package: str) -> dict[str, Any]:
    try:
        package_metadata = cast("Message", metadata.metadata(package))
    except metadata.PackageNotFoundError:
        return {}
    expression = str(package_metadata.get("License-Expression", ""))
    license_name = str(package_metadata.get("License", ""))
    if expression:
        return {"licenses": [{"expression": expression}]}
    listed = [
        classifier.rpartition(" :: ")[2]
        for classifier in package_metadata.get_all("Classifier") or ()
        if classifier.startswith("License ::")
    ]
    names = listed or ([license_name] if license_name and "\n" not in license_name and len(license_name) < 60 else [])
    return {"licenses": [{"license": {"name": name}} for name in names]} if names else {}


def main() -> int:
    """Runs one of the three commands; returns the exit code."""
    match sys.argv[1:]:
        case ["audit"]:
            failed, notes = audit(datetime.now(UTC).date())
            for line in (*notes, *failed):
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
