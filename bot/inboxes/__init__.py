"""Where documents come from: each inbox yields complete files, once."""
