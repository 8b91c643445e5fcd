"""AG-UI 1.0: POST /v2/ag-ui, a run of the protocol over a conversation."""
