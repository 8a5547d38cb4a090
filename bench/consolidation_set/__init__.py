"""The labelled set of the consolidation benchmark: short conversations, and what should be proposed from each turn.

conversations  reads the set: turns, labels, traps and known memories
matching       whether a proposal says what a label says, and the verdicts of a conversation
figures        precision, recall and F1 by kind
script         a scripted model that answers from the labels, with mistakes of stated shares
script_text    the words of the scripted answers
tuned/, held/  the conversations: those that the rules were mended on, and those that were written afterwards

A conversation begins with `# title`. `known:` is a memory that the vault has. A turn begins with `u:` (the person),
`a:` (the assistant) or `t:` (a tool), and the lines below it say what should become of it, each with words of the turn:

    + KIND: words ~ wording       should be proposed; `wording` is how a model may say it
    + KIND replaces 1: words      should be proposed in the place of the first known memory
    ? KIND: words                 may be proposed: it counts neither as right nor as wrong
    - SORT: words                 must not be proposed: a trap

A turn without such lines should give nothing. KIND is fact, preference, instruction, project or task. Facts about the
person's family, home and animals are facts about the person; facts about colleagues, friends and neighbours are not.
SORT is the reason: question, momentary, hypothetical, quoted, sarcasm, dropped, other (people), assistant or secret.
"""
