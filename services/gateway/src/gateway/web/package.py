"""/nexus-widget.tgz: the npm package that loads the widget, without a registry and in this server's version."""

import gzip
import io
import json
import tarfile
from functools import cache

from gateway.web.words import SITE

PACKAGE_PATH = "/nexus-widget.tgz"


@cache
def client_package() -> bytes:
    """The package as `npm pack` would make it: the files listed in package.json and those that npm always adds."""
    source = SITE / "client"
    listed = json.loads((source / "package.json").read_text(encoding="utf-8"))["files"]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(["package.json", "README.md", *listed]):
            body = (source / name).read_bytes()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(body), 0o644
            archive.addfile(entry, io.BytesIO(body))
    return gzip.compress(packed.getvalue(), 9, mtime=0)
