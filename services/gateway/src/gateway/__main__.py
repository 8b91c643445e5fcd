"""python -m gateway."""

from runtime.process import run

MAIN = "gateway.app:main"

if __name__ == "__main__":
    run(MAIN)
