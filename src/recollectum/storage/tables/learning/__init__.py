"""Tables of what a vault learns from conversations.

jobs             the work queue, with leases
runs             consolidation runs and their effects
proposals        the review inbox
forgotten_spans  message spans that are not learned from again
learnings        the state of LEARNINGS.md files
profiles         cached profiles
"""
