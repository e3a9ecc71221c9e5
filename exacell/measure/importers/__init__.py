"""Import the outputs of other programs into one shape: text in, points and distributions out. Pure."""
