"""Builds the images that would come from a registry, out of Debian's packages and this environment.

The base image is a minimal Debian with the Python that runs this. The servers' images are built on the CLI's image,
which has their wheels, under the names that docker-compose.yml uses.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from deploy.verify.engine import PATH, Engine, VerifyError

HERE = Path(__file__).parent
PYTHON = "python:3.11-slim-bookworm"
"""The name that deploy/Dockerfile asks for."""
SERVERS = {"nats": "nats:2.15-alpine", "redis": "redis:8-alpine", "mongodb": "mongo:8"}
"""The names that docker-compose.yml asks for."""
LIBRARIES = (
    "ca-certificates,libbz2-1.0,libexpat1,libffi8,liblzma5,libncursesw6,libreadline8,libsqlite3-0,libssl3,libuuid1,"
    "zlib1g"
)
"""Debian packages of the libraries that Python is linked with."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PASSED_ON = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX")
"""Environment variables that name this machine's package index, if it is not the default one."""
LEFT_OUT = ("site-packages", "test", "idlelib", "tkinter", "turtledemo", "__pycache__", "config-*", "*.a")


def make_base(engine: Engine) -> None:
    """Imports the base image, unless an earlier run with the same directory has done so."""
    if engine.docker("images", "--quiet", PYTHON).strip():
        return
    root = engine.directory / "root"
    shutil.rmtree(root, ignore_errors=True)
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "bookworm")
    result = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={LIBRARIES}", suite, str(root)],
        env=os.environ | {"PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise VerifyError(f"debootstrap: {(result.stdout + result.stderr)[-2000:]}")
    _copy_python(root)
    if CERTIFICATES.exists():
        shutil.copyfile(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    for folder in ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man"):
        shutil.rmtree(root / folder, ignore_errors=True)
    variables = [f"SSL_CERT_FILE={CERTIFICATES}", f"PIP_CERT={CERTIFICATES}"]
    variables += [f"{name}={os.environ[name]}" for name in PASSED_ON if name in os.environ]
    changes = [word for variable in variables for word in ("--change", f"ENV {variable}")]
    with subprocess.Popen(["tar", "--directory", str(root), "--create", "."], stdout=subprocess.PIPE) as archive:
        engine.docker("import", *changes, "-", PYTHON, timeout=600, stdin=archive.stdout)
    shutil.rmtree(root, ignore_errors=True)


def make_servers(engine: Engine) -> None:
    """Builds the three servers' images on top of the CLI's."""
    for server, image in SERVERS.items():
        folder = str(HERE / "servers")
        arguments = ["--file", f"{folder}/Dockerfile", "--target", server, "--tag", image]
        engine.docker("build", "--network=host", *arguments, folder, timeout=600)


def _copy_python(root: Path) -> None:
    """Copies this Python to where the official image has its Python: /usr/local."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = Path(sysconfig.get_path("stdlib"))
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    target = root / "usr/local"
    shutil.copytree(library, target / "lib" / version, ignore=ignored, symlinks=True, dirs_exist_ok=True)
    (target / "lib" / version / "site-packages").mkdir(exist_ok=True)
    shutil.copy2(Path(sys.base_prefix) / "bin" / version, target / "bin" / version)
    for shared in library.parent.glob(f"lib{version}*.so*"):
        shutil.copy2(shared, target / "lib" / shared.name, follow_symlinks=False)
    for name in ("python", "python3"):
        (target / "bin" / name).symlink_to(version)
    for command in (["ldconfig"], [f"/usr/local/bin/{version}", "-m", "ensurepip", "--default-pip"]):
        result = subprocess.run(["chroot", str(root), *command], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise VerifyError(f"{' '.join(command)} in the base image: {result.stderr[-2000:]}")
