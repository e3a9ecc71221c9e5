"""The process of an emulated rack: SSH servers, control service, and the rack that they serve."""
