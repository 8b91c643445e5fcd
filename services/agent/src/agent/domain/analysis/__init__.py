"""Market analyses: what was asked, which tools run for which tickers, what their figures say, and what may be said."""
