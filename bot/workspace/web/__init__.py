"""The HTTP and WebSocket surface of the workspace."""
