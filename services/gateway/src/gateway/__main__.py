"""python -m gateway."""

from runtime.process import run

if __name__ == "__main__":
    run("gateway.app:main")
