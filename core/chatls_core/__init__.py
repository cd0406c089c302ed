"""The agent core of ChatLS: knows no editor and no language server protocol."""
