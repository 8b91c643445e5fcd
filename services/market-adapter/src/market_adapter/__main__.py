"""`python -m market_adapter`: the market-adapter as a process."""

from runtime.process import run

if __name__ == "__main__":
    run("market_adapter.app:serve")
