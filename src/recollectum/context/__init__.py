"""What a model gets to see: pure assembly inside a token budget.

compiler   compiles all parts into one context
parts      fills each part up to its share of the budget
window     the newest turns that fit, and what a summary should cover
rendering  each part as text
fences     marks around untrusted text that it cannot forge
"""
