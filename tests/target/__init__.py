"""Tests of conformance.target."""
