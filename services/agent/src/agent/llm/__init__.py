"""Language models: in which order they are asked, and what each call costs."""
