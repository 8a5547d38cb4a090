"""Finds the times that a question names, as UTC intervals relative to today.

words             words about time, with tags and values
periods           intervals of the calendar and the arithmetic on them
tokens            a text as tagged tokens of time
patterns          matches patterns of tags against tokens
calendar_forms    dates, months, quarters, years, seasons and holidays
relative_forms    yesterday, two weeks ago, last Tuesday
combined_forms    parts of a time, ranges, before and after
ranges            every time that a text names
event_references  events by which a question gives a time
"""
