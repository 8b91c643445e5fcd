"""HTTP and websocket: endpoints, problem documents, pages."""
