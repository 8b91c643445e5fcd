"""The market-adapter: market data from providers, users' paper trading, alerts and watchlists."""
