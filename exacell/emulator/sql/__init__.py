"""The emulated SQL: syntax, values, expressions and queries over rows that views make."""
