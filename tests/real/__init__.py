"""Checks against real gateways, for those that are there: see CONTRIBUTING on the variables that name them."""
