"""The declarations of commands: words, parameters, flags, help, and the name of the function that carries each out."""
