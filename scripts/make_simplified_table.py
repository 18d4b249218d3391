"""Make the table that folds traditional Chinese characters to simplified ones.

Reads the dictionaries that the package `OpenCC` (Apache-2.0) brings along, and jieba's
dictionary for the frequencies of words. Run it where both are installed:

    python scripts/make_simplified_table.py

Most characters have one simplified form. A few are simplified in some words only
(`乾燥` but `乾隆`, `瞭解` but `瞭望`): for these the table has a form for when the
character stands alone, and the words in which another one is right: OpenCC's, and those
that jieba's dictionary has as they are. Words too rare in it are left out.
"""

import importlib.metadata
import subprocess
import tempfile
from pathlib import Path

import jieba
import opencc

OUTPUT = Path(__file__).parent.parent / "langchain_agentmemory" / "search" / "data"
SHORTEST_PHRASE, LONGEST_PHRASE = 2, 4
RAREST_WORD = 20
ASTRAL = "\U00010000"
"""Forms beyond the basic plane are in no dictionary and few fonts."""
ALONE = {"著": "着"}
"""Where OpenCC has no rule for the character alone: Taiwan writes 著 for 着."""


def dictionary(name: str) -> dict[str, list[str]]:
    """Return one of OpenCC's dictionaries: what is replaced, by what, best first."""
    package = Path(opencc.__file__).parent / "clib"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "text"
        subprocess.run(
            [
                package / "bin" / "opencc_dict",
                *("-i", package / "share" / "opencc" / f"{name}.ocd2"),
                *("-o", output, "-f", "ocd2", "-t", "text"),
            ],
            check=True,
        )
        lines = output.read_text("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return {source: targets.split(" ") for source, targets in pairs}


def main() -> None:
    """Write the table and say how large it is."""
    simplified = dictionary("TSCharacters")
    variants = dictionary("TWVariantsRev") | dictionary("HKVariantsRev")
    forms = {
        character: [target for target in targets if target < ASTRAL] or targets[:1]
        for character, targets in simplified.items()
    }
    for variant, (standard, *_) in variants.items():
        forms.setdefault(variant, forms.get(standard, [standard]))
    frequencies = word_frequencies()
    forms |= {c: [alone, c] for c, alone in ALONE.items()}
    always = {c: t[0] for c, t in forms.items() if len(t) == 1 and c != t[0]}
    sometimes = {c: t for c, t in forms.items() if len(t) > 1}
    # A form that is itself replaced would make folding twice differ from once.
    always = {c: always.get(t, t) for c, t in always.items()}
    table = str.maketrans("".join(always), "".join(always.values()))
    alone = {character: targets[0] for character, targets in sometimes.items()}
    phrases = {word: word for word in frequencies if len(word) == SHORTEST_PHRASE}
    for word, targets in dictionary("TSPhrases").items():
        if len(word) <= LONGEST_PHRASE:
            best = max(targets, key=lambda target: frequencies.get(target, 0))
            phrases[word.translate(table)] = best
    lone = str.maketrans("".join(alone), "".join(alone.values()))
    phrases = {
        word: target
        for word, target in phrases.items()
        if not sometimes.keys().isdisjoint(word)
        and frequencies.get(target, 0) >= RAREST_WORD
        and frequencies.get(target, 0) > frequencies.get(word.translate(lone), 0)
        and target != word.translate(lone)
    }
    used = set("".join(phrases))
    write(always, {c: t for c, t in alone.items() if c != t or c in used}, phrases)


def word_frequencies() -> dict[str, int]:
    """Return how often jieba's dictionary has each word."""
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    return dict(tokenizer.FREQ)


def write(
    always: dict[str, str], alone: dict[str, str], phrases: dict[str, str]
) -> None:
    """Write the table's file: six lines below the comments."""
    version = importlib.metadata.version("OpenCC")
    rows = [
        blank.join(column)
        for pairs, blank in ((always, ""), (alone, ""), (phrases, " "))
        for column in zip(*sorted(pairs.items()), strict=True)
    ]
    header = f"""\
# From the dictionaries of OpenCC {version}, by Carbo Kuo and contributors, under the
# Apache License 2.0 (see OpenCC-LICENSE.txt). Changed: reduced to single characters and
# common words by scripts/make_simplified_table.py.
# Lines: characters; what they become; characters whose form depends on the word; what
# they become alone; words in which they become something else; what these become.
"""
    path = OUTPUT / "simplified.txt"
    path.write_text(header + "\n".join(rows) + "\n", "utf-8")
    print(f"{len(always)} + {len(alone)} characters, {len(phrases)} words")


if __name__ == "__main__":
    main()
