"""Turns conversations into memories.

service   the public operations, and the cost estimate
job       runs one job under a lease, with retries
snapshot  loads what a run starts from
apply     writes the findings of a run
revert    reverts a run
learn     records a conversation and reads it in one call
"""
