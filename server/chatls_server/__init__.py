"""The ways into ChatLS: the language server and the command line."""

__version__ = "0.1.0"
