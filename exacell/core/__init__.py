"""What all other packages build on: configuration, errors, sets of cells, units, paths, and files that several users share."""
