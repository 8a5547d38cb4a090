"""The files and folders of a person that a vault knows.

project     a folder that memories and conversations belong to
note        a Markdown file
transcript  a conversation file of another program
"""
