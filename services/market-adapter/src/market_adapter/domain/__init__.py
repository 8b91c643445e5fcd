"""The market in plain Python: symbols, bars, splits, quotes, the sample's clock."""
