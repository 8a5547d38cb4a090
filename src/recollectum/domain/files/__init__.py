"""The files and folders of a person that a vault knows, and those that others wrote for agents.

project     a folder that memories and conversations belong to
extension   a folder with a manifest that others wrote
note        a Markdown file
task        a task of an agent server
transcript  a conversation file of another program
"""
