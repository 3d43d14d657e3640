"""The parts of the README that are made from the code, and the check that they are up to date."""
