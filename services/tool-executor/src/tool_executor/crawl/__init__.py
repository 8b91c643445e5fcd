"""Reading a company's whole site, page by page, by executors that share the work and may die at any point."""
