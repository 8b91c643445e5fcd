"""python -m gateway."""

from gateway.app import main
from runtime.service import run

if __name__ == "__main__":
    run(main)
