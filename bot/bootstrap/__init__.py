"""The composition root: configuration in, running parts out. The only room that knows every concrete class."""
