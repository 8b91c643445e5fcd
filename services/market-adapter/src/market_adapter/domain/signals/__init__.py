"""A direction signal from past bars alone: features, walk-forward check, calibration, prediction."""
