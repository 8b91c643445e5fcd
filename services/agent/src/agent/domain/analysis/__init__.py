"""Market analyses: what is asked, which tools run on which tickers, what their figures say, and what may be said."""
