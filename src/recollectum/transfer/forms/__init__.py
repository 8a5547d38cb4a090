"""The forms of other programs, one module each; each yields conversations, messages and memories in order.

building         conversations and messages with ids that are derived from those of the other program
json_files       JSON files: a list read one element at a time, or one object
chatgpt          the export of ChatGPT
claude_ai        the export of Claude.ai
opencode         the database of opencode
openclaw         the database of OpenClaw, and its older files
adk              the sessions.db of the Agent Development Kit, which Gaia uses too
letta            agent files of Letta
mem0             the history database and the API's export of mem0, and its Chroma collection
langgraph        the SqliteStore of LangGraph
memory_lists     memories as JSON: MemorySync and Zep
knowledge_graph  the file of the reference memory server
picobot          the sessions.json of PicoBot
aider            the chat history of aider
cursor           the database of Cursor
"""
