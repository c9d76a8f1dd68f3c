"""The suite as pytest collects it: `pytest --pyargs conformance.suite --target NAME -n 4`."""
