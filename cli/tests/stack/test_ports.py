"""The ports of the local stack's programs."""

import os
import socket
import subprocess
import sys

from nexus_cli.stack import ports


def test_a_port_that_one_process_chose_no_other_chooses_while_a_server_may_listen_there() -> None:
    port = ports.choose(set())
    its = f"from nexus_cli.stack import ports; ports._candidate_ports = lambda: range({port}, {port + 1})"
    asked = [sys.executable, "-c", f"{its}; ports.choose(set())"]
    other = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    assert "no free port" in other.stderr
    assert ports.is_free(port)
    with socket.create_server((ports.HOST, port)):
        assert ports.listens(os.getpid(), port)
