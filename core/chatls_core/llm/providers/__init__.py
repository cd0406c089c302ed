"""One module per wire dialect; each turns a :class:`ModelRequest` into its vendor's words and the answer back."""
