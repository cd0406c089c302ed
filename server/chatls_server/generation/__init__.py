"""Derived files: documentation of the wire, TypeScript types, the extension's settings."""
