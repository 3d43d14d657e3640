"""Text, pure: spans, code-like words, the vocabulary, tokens and their spelling. The only I/O is reading our data."""
