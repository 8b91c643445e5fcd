"""Language models: asked in their order, and what each call costs."""
