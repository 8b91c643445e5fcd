"""``python -m deploy.verify``: builds the images of deploy/Dockerfile, brings docker-compose.yml up from them.

Needs root, Debian's packages (it installs what is missing, or says how) and the package indexes; no registry of
images. The engine is one of its own, with its files in a directory that is removed again, unless `--keep` names one to
go on with another time. It builds with this machine's network; the stack runs in a network namespace of its own, where
no port is taken.
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

APART = "--in-a-network-of-its-own"


def say(line: str) -> None:
    """What was seen, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def main() -> int:
    """Exit code 1 and one line when something is not as it has to be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a directory for the engine's files that is kept, and used again")
    parser.add_argument("--once", action="store_true", help="build each image once, and compare nothing")
    parser.add_argument(APART, dest="apart", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    try:
        if given.apart:
            run_stack(Engine(given.apart))
            return 0
        if os.geteuid() != 0:
            raise VerifyError("a container engine needs root")
        if packages := missing():
            install(packages)
            say(f"installed: {' '.join(packages)}")
        directory = (given.keep or Path(tempfile.mkdtemp(prefix="nexus-verify-", dir="/var/tmp"))).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        try:
            build_images(Engine(directory), twice=not given.once)
            apart = [sys.executable, "-m", "deploy.verify", APART, str(directory)]
            return subprocess.run(["unshare", "--net", "--", *apart], check=False).returncode
        finally:
            if not given.keep:
                # An engine mounts its data on itself, and leaves that behind.
                subprocess.run(["umount", str(directory / "data")], capture_output=True, check=False)
                shutil.rmtree(directory, ignore_errors=True)
    except VerifyError as error:
        print(f"verify-images: {error}", file=sys.stderr)
        return 1


def build_images(engine: Engine, *, twice: bool) -> None:
    """The base, the six images, the servers'."""
    with engine.running("--iptables=false"):
        make_base(engine)
        say("base image: there")
        for image in LIMITS:
            tag = image if image.startswith("nexus-") else f"nexus-{image}"
            began = time.monotonic()
            build(engine, image, tag)
            took = time.monotonic() - began
            say(f"{tag}: built in {took:.0f} s, {looked_at(engine, image, tag)}")
            if twice:
                build(engine, image, f"{tag}:again", anew=True)
                if found := differences(engine, tag, f"{tag}:again"):
                    raise VerifyError(f"two builds of {tag} differ in {len(found)} files: {', '.join(found[:10])}")
                engine.docker("rmi", f"{tag}:again")
                say(f"{tag}: built again, every file the same")
        make_servers(engine)
        say("the servers' images: built")


def run_stack(engine: Engine) -> None:
    """The stack, in a network where nothing but it is."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with engine.running():
        asyncio.run(Story(engine, say).tell())


if __name__ == "__main__":
    sys.exit(main())
