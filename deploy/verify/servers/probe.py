#!/opt/nexus/bin/python
"""wget, redis-cli and mongosh, as far as the health checks of docker-compose.yml use them."""

import os
import socket
import sys
import urllib.request
from pathlib import Path
from typing import Any


def redis_pings() -> bool:
    """Without a client's library: a check has three seconds, its start included."""
    with socket.create_connection(("127.0.0.1", 6379), timeout=2) as line:
        line.sendall(f"AUTH {os.environ.get('REDISCLI_AUTH', '')}\r\nPING\r\n".encode())
        said = b""
        while said.count(b"\r\n") < 2:
            said += line.recv(1000) or b"\r\n\r\n"
    return b"+PONG" in said


match Path(sys.argv[0]).name:
    case "wget":
        print(urllib.request.urlopen(sys.argv[-1], timeout=2).read().decode())
    case "redis-cli":
        print("PONG" if redis_pings() else "")
    case _:
        import pymongo

        client = pymongo.MongoClient[dict[str, Any]](serverSelectionTimeoutMS=3000)
        print(int(client.admin.command("ping")["ok"]))
