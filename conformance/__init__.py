"""Gateway Conformance: a record/replay conformance harness for OpenAI-compatible endpoints."""

__version__ = "0.1.0"
