"""What the model is told: five layers, then what was said, then what the tools gave."""
