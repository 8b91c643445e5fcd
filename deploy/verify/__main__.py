"""``python -m deploy.verify``: builds the images of deploy/Dockerfile, and starts docker-compose.yml with them.

Needs root, Debian's packages (it installs missing ones, or says how) and the package indexes, but no image registry. It
starts its own container engine, whose files are in a temporary directory, or in the one that `--keep` names, for use
another time. Builds use this machine's network; the stack runs in a separate network namespace, where no port is taken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deploy.verify.base import make_base, make_servers
from deploy.verify.engine import Engine, VerifyError, install, missing
from deploy.verify.images import LIMITS, build, differences, looked_at
from deploy.verify.story import Story

ISOLATED_OPTION = "--in-a-network-of-its-own"


def say(line: str) -> None:
    """Prints a line with the time."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def main() -> int:
    """Returns exit code 1, after one line of explanation, if something is not as required."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a directory for the engine's files that is kept, and used again")
    parser.add_argument("--once", action="store_true", help="build each image once, and compare nothing")
    parser.add_argument(ISOLATED_OPTION, dest="apart", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        if options.apart:
            run_stack(Engine(options.apart))
            return 0
        if os.geteuid() != 0:
            raise VerifyError("a container engine needs root")
        if packages := missing():
            install(packages)
            say(f"installed: {' '.join(packages)}")
        directory = (options.keep or Path(tempfile.mkdtemp(prefix="nexus-verify-", dir="/var/tmp"))).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        try:
            build_images(Engine(directory), twice=not options.once)
            isolated_command = [sys.executable, "-m", "deploy.verify", ISOLATED_OPTION, str(directory)]
            return subprocess.run(["unshare", "--net", "--", *isolated_command], check=False).returncode
        finally:
            if not options.keep:
                # The engine leaves a bind mount of its data directory behind.
                subprocess.run(["umount", str(directory / "data")], capture_output=True, check=False)
                shutil.rmtree(directory, ignore_errors=True)
    except VerifyError as error:
        print(f"verify-images: {error}", file=sys.stderr)
        return 1


def build_images(engine: Engine, *, twice: bool) -> None:
    """Builds the base image, the six images, and the servers' images."""
    with engine.running("--iptables=false"):
        make_base(engine)
        say("base image: there")
        for image in LIMITS:
            tag = image if image.startswith("nexus-") else f"nexus-{image}"
            began = time.monotonic()
            build(engine, image, tag)
            seconds = time.monotonic() - began
            say(f"{tag}: built in {seconds:.0f} s, {looked_at(engine, image, tag)}")
            if twice:
                build(engine, image, f"{tag}:again", without_cache=True)
                if differing := differences(engine, tag, f"{tag}:again"):
                    raise VerifyError(
                        f"two builds of {tag} differ in {len(differing)} files: {', '.join(differing[:10])}"
                    )
                engine.docker("rmi", f"{tag}:again")
                say(f"{tag}: built again, every file the same")
        make_servers(engine)
        say("the servers' images: built")


def run_stack(engine: Engine) -> None:
    """Runs the stack, in a network of its own."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with engine.running():
        asyncio.run(Story(engine, say).tell())


if __name__ == "__main__":
    sys.exit(main())
