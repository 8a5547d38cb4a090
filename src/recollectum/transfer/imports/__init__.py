"""Recognises and reads what can be imported.

reader      finds the files at paths, and recognises their forms
sources     one file, archive member or database of a known form
line_files  transcripts of one JSON object per line
mapped      plain CSV, JSONL and Markdown, with a mapping of their fields
"""
