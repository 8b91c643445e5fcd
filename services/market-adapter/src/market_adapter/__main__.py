"""`python -m market_adapter`: the market-adapter as a process."""

from market_adapter.app import main

if __name__ == "__main__":
    main()
