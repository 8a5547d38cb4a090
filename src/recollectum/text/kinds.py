"""Kinds of everyday things, and what belongs to each: who asks about pets is answered by what tells of a dog.

People seldom name the kind when they tell something, and seldom anything else when they ask. The table holds what a
person's life is made of, in words that mean little else; a kind that everybody names by itself is not in it.
"""

_KINDS = """
sibling: brother sister
parent: mother father mom dad mum
grandparent: grandmother grandfather grandma grandpa
relative: cousin aunt uncle nephew niece grandmother grandfather
kid child: son daughter
spouse: husband wife
pet: dog cat puppy kitten
vehicle: car truck motorcycle van
instrument: guitar piano violin drum keyboard ukulele saxophone flute
furniture: sofa couch table chair bed desk mattress bookshelf
shoe footwear: sneakers boots sandals
clothes clothing: shirt dress jacket jeans sweater coat
jewellery jewelry: necklace ring bracelet earrings
appliance: fridge oven blender microwave dishwasher toaster
sport: football soccer basketball tennis swimming running
exercise workout: gym yoga running jogging pilates
doctor: physician dentist dermatologist therapist
beverage drink: coffee tea beer wine juice
dessert: cake cookies pie brownies
transport transportation: bus train taxi subway bike
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in table.strip().splitlines():
        names, _, members = line.partition(":")
        for name in names.split():
            found[name] = found[_plural(name)] = tuple(members.split())
    return found


def _plural(name: str) -> str:
    if name == "child":
        return "children"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


_MEMBERS = _read(_KINDS)


def members(word: str) -> tuple[str, ...]:
    """What belongs to a kind; nothing where the word, in lower case, names none."""
    return _MEMBERS.get(word, ())
