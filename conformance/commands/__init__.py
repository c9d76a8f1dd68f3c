"""The bodies of the commands: from parsed arguments to what is shown and the exit code. None prints or exits."""
