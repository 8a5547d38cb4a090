"""What programs of other machines hand in.

imports  /v1/imports
"""
