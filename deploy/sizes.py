"""Measures what each service installs and writes the table into docs/architecture/stack.md: `make sizes`.

It uses a temporary environment for each service, installed from the service's lock as in the Dockerfile; sizes are
without bytecode.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture/stack.md"
LIMITS = {"gateway": 250, "agent": 250, "tool-executor": 250, "memory": 250, "market-adapter": 500, "nexus-cli": 250}
BEGIN, END = "<!-- sizes: written by `make sizes` -->", "<!-- /sizes -->"


def main() -> int:
    """Returns exit code 1 if a service is over its limit."""
    sizes = {service: installed(service) for service in LIMITS}
    lines = ["| service | installed | limit |", "| --- | ---: | ---: |"]
    lines += [f"| {service} | {size:.0f} MB | {LIMITS[service]} MB |" for service, size in sizes.items()]
    table = "\n".join(lines)
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n{table}\n{END}{tail}")
    print(table)
    return 1 if any(size > LIMITS[service] for service, size in sizes.items()) else 0


def installed(service: str) -> float:
    """Returns the size of a service's third-party and own packages, in megabytes (10^6 bytes)."""
    uv = [str(Path(sys.executable).with_name("uv")), "--quiet"]
    with tempfile.TemporaryDirectory() as directory:
        python = f"{directory}/bin/python"
        project = "cli" if service == "nexus-cli" else f"services/{service}"
        own = [str(ROOT / path) for path in ("libs/contracts", "libs/runtime", project)]
        lock = str(ROOT / f"deploy/locks/{service}.lock")
        subprocess.run([*uv, "venv", "--python", sys.executable, directory], check=True)
        install = [*uv, "pip", "install", "--python", python]
        subprocess.run([*install, "--require-hashes", "-r", lock], check=True)
        subprocess.run([*install, "--no-deps", "--no-build-isolation", "--no-sources", *own], check=True)
        files = (file for file in Path(directory).rglob("*") if file.is_file() and not file.is_symlink())
        return sum(file.stat().st_size for file in files) / 1e6


if __name__ == "__main__":
    sys.exit(main())
