"""Limits on calls of models.

retry   exponential backoff for failures that may pass
budget  a daily budget, and how many calls run at once
"""
