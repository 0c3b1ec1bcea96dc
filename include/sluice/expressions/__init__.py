"""A small language for conditions on rows and for computed columns: what SQL calls a value expression.

`parse` reads a text, `condition` and `value` check it against a table's columns, and what they give judges whole
columns of row images. The language and its limits are in include/docs/expressions.md.
"""

from sluice.expressions.expression import Condition, Expression, Value, constant, is_text, parse
from sluice.expressions.tree import Fault

__all__ = ["Condition", "Expression", "Fault", "Value", "constant", "is_text", "parse"]
