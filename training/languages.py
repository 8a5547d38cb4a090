"""Makes pairs in German, French, Spanish and Japanese: a question about a person, and the sentence that answers it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from training.instructions import Row


@dataclass(frozen=True, slots=True)
class _Fact:
    """A kind of fact: questions with {name}, sentences with {value}, and values."""

    questions: tuple[str, ...]
    sentences: tuple[str, ...]
    values: tuple[str, ...]


_NAMES = {
    "de": ("Anna", "Lukas", "Greta", "Emre", "Sophie", "Jan", "Mila", "Tobias"),
    "fr": ("Camille", "Hugo", "Léa", "Mathis", "Chloé", "Karim", "Manon", "Louis"),
    "es": ("Lucía", "Mateo", "Carmen", "Diego", "Sofía", "Pablo", "Elena", "Javier"),
    "ja": ("田中さん", "佐藤さん", "鈴木さん", "由美さん", "健太さん", "山本さん", "美咲さん", "高橋さん"),
}

FACTS: dict[str, tuple[_Fact, ...]] = {
    "de": (
        _Fact(("Wo wohnt {name}?", "In welcher Stadt lebt {name}?", "Wo wohne ich?"),
              ("Ich wohne jetzt in {value}.", "Wir sind letzten Monat nach {value} gezogen.", "Seit zwei Jahren lebe ich in {value}."),
              ("Leipzig", "Bremen", "Graz", "Zürich", "Kiel", "Freiburg", "Dresden", "Linz")),
        _Fact(("Was macht {name} beruflich?", "Als was arbeitet {name}?", "Welchen Beruf habe ich?"),
              ("Ich arbeite als {value}.", "Seit dem Frühjahr bin ich {value} und es gefällt mir."),
              ("Krankenpfleger", "Lehrerin", "Tischler", "Buchhalterin", "Bäcker", "Richterin", "Elektriker")),
        _Fact(("Welches Haustier hat {name}?", "Hat {name} ein Tier?"),
              ("Wir haben uns {value} geholt.", "Zu Hause wartet {value} auf mich."),
              ("einen Hund", "eine Katze", "zwei Kaninchen", "einen Wellensittich", "eine Schildkröte")),
        _Fact(("Was isst {name} nicht?", "Worauf ist {name} allergisch?", "Was vertrage ich nicht?"),
              ("{value} vertrage ich leider gar nicht.", "Bitte ohne {value}, davon werde ich krank."),
              ("Nüsse", "Milch", "Erdbeeren", "Fisch", "Sellerie", "Weizen")),
        _Fact(("Welches Instrument spielt {name}?", "Was übt {name} jeden Tag?"),
              ("Ich lerne seit einem Jahr {value}.", "Abends spiele ich gern {value}."),
              ("Geige", "Klavier", "Schlagzeug", "Querflöte", "Akkordeon")),
        _Fact(("Wann hat {name} Geburtstag?", "An welchem Tag ist mein Geburtstag?"),
              ("Ich bin am {value} geboren.", "Am {value} werde ich dreißig."),
              ("3. Mai", "17. August", "1. Dezember", "22. Februar", "9. Juli")),
    ),
    "fr": (
        _Fact(("Où habite {name} ?", "Dans quelle ville vit {name} ?", "Où est-ce que j'habite ?"),
              ("J'habite maintenant à {value}.", "Nous avons déménagé à {value} le mois dernier."),
              ("Nantes", "Lyon", "Lille", "Genève", "Bordeaux", "Rennes", "Toulouse")),
        _Fact(("Quel est le métier de {name} ?", "Que fait {name} dans la vie ?"),
              ("Je travaille comme {value}.", "Depuis mars je suis {value}."),
              ("infirmière", "menuisier", "boulanger", "comptable", "avocate", "professeur")),
        _Fact(("Quel animal a {name} ?", "Est-ce que {name} a un animal ?"),
              ("Nous avons adopté {value}.", "À la maison, {value} m'attend."),
              ("un chien", "un chat", "deux lapins", "une perruche", "une tortue")),
        _Fact(("À quoi {name} est-elle allergique ?", "Qu'est-ce que je ne peux pas manger ?"),
              ("Je ne supporte pas {value}.", "Sans {value}, s'il vous plaît, ça me rend malade."),
              ("les noix", "le lait", "les fraises", "le poisson", "le gluten")),
        _Fact(("De quel instrument joue {name} ?", "Que travaille {name} chaque soir ?"),
              ("J'apprends {value} depuis un an.", "Le soir je joue {value}."),
              ("du violon", "du piano", "de la batterie", "de la flûte")),
        _Fact(("Quand est l'anniversaire de {name} ?", "Quel jour suis-je né ?"),
              ("Je suis né le {value}.", "Le {value} j'aurai trente ans."),
              ("3 mai", "17 août", "1er décembre", "22 février")),
    ),
    "es": (
        _Fact(("¿Dónde vive {name}?", "¿En qué ciudad vive {name}?", "¿Dónde vivo?"),
              ("Ahora vivo en {value}.", "El mes pasado nos mudamos a {value}."),
              ("Sevilla", "Valencia", "Bilbao", "Lima", "Granada", "Quito", "Zaragoza")),
        _Fact(("¿En qué trabaja {name}?", "¿Cuál es la profesión de {name}?"),
              ("Trabajo de {value}.", "Desde marzo soy {value}."),
              ("enfermera", "carpintero", "panadero", "contable", "abogada", "maestro")),
        _Fact(("¿Qué mascota tiene {name}?", "¿Tiene {name} algún animal?"),
              ("Hemos adoptado {value}.", "En casa me espera {value}."),
              ("un perro", "un gato", "dos conejos", "un periquito", "una tortuga")),
        _Fact(("¿A qué es alérgica {name}?", "¿Qué no puedo comer?"),
              ("No tolero {value}.", "Sin {value}, por favor, me pone enfermo."),
              ("las nueces", "la leche", "las fresas", "el pescado", "el trigo")),
        _Fact(("¿Qué instrumento toca {name}?", "¿Qué practica {name} cada noche?"),
              ("Estoy aprendiendo {value} desde hace un año.", "Por las noches toco {value}."),
              ("el violín", "el piano", "la batería", "la flauta")),
        _Fact(("¿Cuándo es el cumpleaños de {name}?", "¿Qué día nací?"),
              ("Nací el {value}.", "El {value} cumplo treinta."),
              ("3 de mayo", "17 de agosto", "1 de diciembre", "22 de febrero")),
    ),
    "ja": (
        _Fact(("{name}はどこに住んでいますか？", "私はどこに住んでいますか？"),
              ("今は{value}に住んでいます。", "先月{value}に引っ越しました。"),
              ("京都", "大阪", "札幌", "福岡", "名古屋", "仙台")),
        _Fact(("{name}の仕事は何ですか？", "私の職業は？"),
              ("{value}として働いています。", "春から{value}になりました。"),
              ("看護師", "教師", "大工", "会計士", "料理人", "弁護士")),
        _Fact(("{name}はどんな動物を飼っていますか？", "{name}のペットは？"),
              ("{value}を飼い始めました。", "家では{value}が待っています。"),
              ("犬", "猫", "うさぎ", "インコ", "亀")),
        _Fact(("{name}は何のアレルギーですか？", "私が食べられないものは？"),
              ("{value}は食べられません。", "{value}抜きでお願いします、体に合わないので。"),
              ("ナッツ", "牛乳", "いちご", "魚", "小麦")),
        _Fact(("{name}は何の楽器を弾きますか？", "{name}は毎晩何を練習していますか？"),
              ("一年前から{value}を習っています。", "夜はよく{value}を弾きます。"),
              ("バイオリン", "ピアノ", "ギター", "チェロ")),
        _Fact(("{name}の誕生日はいつですか？", "私の誕生日は？"),
              ("{value}に生まれました。", "{value}に三十歳になります。"),
              ("五月三日", "八月十七日", "十二月一日", "二月二十二日")),
    ),
}  # fmt: skip

#: The last kinds of each language are kept for measuring.
_KEPT = 2


def rows(seed: int, each: int = 400) -> Iterator[tuple[str, Row]]:
    """Yield the language and a row, `each` of a language, of the kinds to train with."""
    for language, facts in FACTS.items():
        chance = random.Random(f"{language} {seed}")
        for _ in range(each):
            yield language, _row(language, facts[:-_KEPT], chance)


def kept_rows(seed: int, each: int = 200) -> Iterator[tuple[str, Row]]:
    """Yield the language and a row of the kinds that are never trained with."""
    for language, facts in FACTS.items():
        chance = random.Random(f"kept {language} {seed}")
        for _ in range(each):
            yield language, _row(language, facts[-_KEPT:], chance, wrong=facts)


def _row(language: str, facts: tuple[_Fact, ...], chance: random.Random, wrong: tuple[_Fact, ...] = ()) -> Row:
    fact = chance.choice(facts)
    name, other = chance.sample(_NAMES[language], 2)
    question = chance.choice(fact.questions)
    value = chance.choice(fact.values)
    by_name = "{name}" in question

    def said(speaker: str, kind: _Fact, value: str) -> str:
        sentence = chance.choice(kind.sentences).format(value=value)
        sentence = sentence[0].upper() + sentence[1:]
        return f"{speaker if by_name else 'User'}: {sentence}"

    others = [kind for kind in (wrong or facts) if kind is not fact]
    negatives = [said(name, kind, chance.choice(kind.values)) for kind in chance.sample(others, min(3, len(others)))]
    if by_name:
        negatives.append(said(other, fact, chance.choice([one for one in fact.values if one != value])))
    return question.format(name=name), said(name, fact, value), tuple(negatives)
