"""The commands as declared: words, parameters, flags, help, and the name of the function that carries each out."""
