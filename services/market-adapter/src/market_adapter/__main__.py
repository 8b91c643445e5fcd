"""`python -m market_adapter`: the market-adapter as a process."""

from runtime.lifecycle.process import run

MAIN = "market_adapter.app:serve"

if __name__ == "__main__":
    run(MAIN)
