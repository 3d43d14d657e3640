"""Arrival: bytes of a digest file become rows, once. Parsing, identity, extraction and decisions are pure."""
