"""How text enters a vault: cleaned, without secrets, within its limits, and with its trust decided.

intake        admits each noun before its transaction, and keeps its secrets when told to
admitted      the types that writers accept; only this room makes them
draft         what callers hand in for a memory, and the checks of its values
new_message   what callers hand in for a message, and the checks of its values
plain_messages  messages that need no change, each admitted in one step
chat_messages  messages as the chat interfaces of OpenAI, Anthropic and Gemini write them
quick_look    tells what need not be looked for in each of many texts, by their distinct words
trust         decides how far the text of a caller is trusted
tally         counts what was replaced, for the notice that a write returns
echoes        cuts echoes of what memory served out of incoming text
served        finds blocks that memory served by their keyed digests
redaction     replaces secrets in texts and JSON values
kept_secrets  finds references to kept secrets, and deletes secrets whose texts are gone
secret_store  stores kept secrets for each vault
"""
