"""Extensions: folders that somebody else wrote, and what of them has an effect.

manifest_form   the kinds of values in a manifest; checks them and describes them as JSON Schema
manifest        reads a manifest, in our form or in that of Gemini CLI
entry_names     refuses names that lead out of a folder or collide
unpacking       copies a folder or an archive into a staging folder, within limits
register        what was agreed to: folders, digests and switches
installation    installs, replaces and removes in one step each
contents        what a folder brings, and whether it changed
merged          what enabled extensions bring to agents and to policies
"""
