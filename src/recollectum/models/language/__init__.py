"""Language models: turn a prompt into a reply.

port         the protocol of a language model
costs        tokens and prices of a call
json_schema  checks values against a schema, and adapts schemas
structured   replies that fit a schema
openai       OpenAI's chat completions, and the protocol of a dialect
anthropic    Anthropic's messages
gemini       Gemini's content
remote       a model behind an endpoint
llama        a model in this process
rule_model   fixed rules in place of a model
"""
