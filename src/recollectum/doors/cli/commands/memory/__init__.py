"""Commands that save, find and change memories.

remember   saves a text
recall     searches, and explains ranks
memories   lists, shows, edits and compares memories
context    shows what a model would see
profile    shows who the person is
learnings  what agents learned about working with a person
contacts   who somebody is and how they are reached
"""
