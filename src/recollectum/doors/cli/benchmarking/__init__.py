"""How well recall finds what it should, on labelled sets, with no language model and no judge."""
