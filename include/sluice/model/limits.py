"""Limits of the size of expressions and configurations, so that they are read, checked and evaluated in time."""

from __future__ import annotations

# Of an expression: signs of its text, levels of nesting, parts in all, digits of a number in it, signs of a pattern.
MOST_SIGNS, MOST_LEVELS, MOST_PARTS, MOST_DIGITS, MOST_OF_PATTERN = 20_000, 100, 10_000, 1_000, 1_000

# Of the configuration: bytes of the file, levels, and entries once its aliases stand for what they repeat.
MOST_BYTES_OF_FILE, MOST_LEVELS_OF_FILE, MOST_ENTRIES = 2_000_000, 50, 100_000
