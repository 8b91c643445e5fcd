"""A direction signal from past bars alone: features, walk-forward check, calibration, and what comes of them."""
