"""Files that several processes or users share: opened so that nobody on the host can put something else in their place."""
