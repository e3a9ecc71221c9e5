"""The pages of help other than a statement's own: the first screen, the results of searches, and the layout of lines."""
