"""HTTP: guarded requests to addresses that others name, and the server of our own pages."""
