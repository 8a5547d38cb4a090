"""Imports and exports conversations: one module per foreign format.

forms              forms of other programs, for imports
imports            recognises and reads what can be imported
readers            hands out the readers
sessions           exports and imports sessions of a vault
transcript_reader  reads new lines of a growing transcript
jsonl              our transcript format
records            sessions and messages as JSON objects
bundle_rows        memories and messages of a Recollectum bundle, as imported text
agent_lines        one line of an agent's log
claude_code        lines of Claude Code
codex              lines of Codex
gemini             Gemini CLI records
gemini_asides      removes text that Gemini CLI adds to a person's messages
gemini_format      Gemini CLI's vocabulary and change log
foreign_json       strict JSON parsing and typed fields
plain_pickle       pickled data of another program, of which nothing is run
"""
