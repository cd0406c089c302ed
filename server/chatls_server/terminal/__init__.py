"""The terminal as a front end: ``chatls ask`` and ``chatls doctor``, on the same core as the language server."""
