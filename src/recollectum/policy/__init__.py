"""Pure decisions: what is due, what is allowed, what is the same.

rules/      TOML policy rules: parsing, matching and decisions
access      whether a caller may access an owner's vault
actions     the names of operations in policy rules
clock       the time of a vault when the wall clock may be wrong
duplicates  whether a new memory is a duplicate
lifecycle   when a memory changes state
"""
