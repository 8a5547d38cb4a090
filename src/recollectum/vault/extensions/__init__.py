"""Extensions of a home, behind its gate.

service     lists, installs, switches, updates and removes them
abilities   says in sentences what one may do
"""
