"""TOML policy rules: who may use which tool, and how.

model            rules, checks, verdicts and tiers
policy_file      parses a policy file and reports problems by line
unknown_actions  suggests an action for an unknown name in a rule
matching         the order of all rules, and whether one matches
shell_commands   parses a shell command into simple commands
checkers         named checks of a tool's arguments
decisions        the decision about one use of a tool
enforcement      applies the loaded rules to operations
cases            test cases for a set of rules
"""
