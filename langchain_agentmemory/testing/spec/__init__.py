"""The rules, one module per area; each function is one rule, its docstring the rule."""
