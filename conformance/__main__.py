"""`python -m conformance`: the command line where the script is not on the PATH."""

from conformance.cli import entry

entry()
