"""Prices and bars from market data providers."""
