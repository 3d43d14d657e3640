"""Look-up and marks: what readers ask, what they keep, and what is said about an entry."""
