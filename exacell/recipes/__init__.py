"""Recipes: where they are kept, how they are parsed, their values, and how they run."""
