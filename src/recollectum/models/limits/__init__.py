"""Limits on calls of models.

retry   exponential backoff for transient failures
budget  a daily budget, and how many calls run at once
"""
