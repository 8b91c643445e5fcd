"""python -m gateway."""

from runtime.lifecycle.process import run

MAIN = "gateway.app:main"

if __name__ == "__main__":
    run(MAIN)
