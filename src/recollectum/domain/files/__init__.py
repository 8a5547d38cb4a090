"""The files of a person that a vault follows.

note        a Markdown file
transcript  a conversation file of another program
"""
