"""Pure decisions: what is due, what is allowed, what is the same.

rules/      TOML policy rules: parsing, matching and decisions
access      whether a caller may touch an owner's vault
actions     what policy rules call the operations
clock       the time of a vault when the wall clock may be wrong
duplicates  whether a new memory is known already
lifecycle   when a memory changes state
"""
