"""The labelled set of the redaction benchmark: secrets of every kind by their surroundings, and innocent texts.

values     made-up secrets of each kind, drawn from a seed; none is anybody's
formed     kinds whose own form gives them away, and the texts around them
told       kinds that only their surroundings give away, each with its sentences
measure    the share of each kind that is found, and the innocents that are spoilt
innocents  texts without any secret that look as if they had one

Each kind has two groups of texts: those that the patterns were tuned on, and those that were written before and only
measured.
"""
