"""The language server: JSON-RPC in, turn events out."""
