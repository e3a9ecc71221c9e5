"""The emulated SQL*Plus: its commands, settings, reports and questions."""
