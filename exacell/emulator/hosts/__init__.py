"""Emulated hosts: their files, shells and logins, and the fences that keep their processes apart."""
