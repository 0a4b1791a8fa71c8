#!/usr/bin/env python3
"""Checks the words of code and documents: each has one meaning, which is in a glossary."""

import re
import unittest

from tidy_project import CPP_CODE, TEXT, is_code, lines_with, without_code

# Names that were replaced by those of the glossaries, and vague words. Neither may come back.
OLD_NAMES = re.compile(
    r"\b(IoWay|choose_(read|write)_way|Hidden|HiddenPartial|Together|StallTime|Compute|Cause|"
    r"Activity|plan_(pass|histogram|convert|matmul)|try_out|lies_in_memory|RunPlan|BenchPlan|"
    r"settle)\b")
VAGUE_WORDS = re.compile(
    r"\b(nobody|somebody|anybody|everybody|whoever|whomever|mend(s|ed|ing)?|boils? down)\b", re.I)
HEADLESS = re.compile(r"^\s*(///?|#) (What|Who|Whose|Whom|Of an?|Whether) (?!.*\?$)")

# The glossary of users, and that of developers for all other words.
GLOSSARIES = ["docs/glossary.md", "lib/glossary.md"]
MAX_WORDS_OF_USERS = 30
ELEMENT_TYPES = {"f4", "u1", "bf16"}
SOME_OF_THE_DATA = {"record", "piece", "chunk", "step", "partition", "part", "range", "section"}
OTHER_WORDS = re.compile(r"\b(extents?|segments?|fragments?|portions?|slabs?|morsels?|"
                         r"blocks? of (the )?(data|records|source)|next blocks?)\b", re.I)


def words_of(glossary):
    """Returns the words that the tables of a glossary explain, in their order."""
    cells = re.findall(r"^\| ([^|`]+) \| \S", glossary, re.M)
    return [word for cell in cells for word in cell.split(", ") if cell not in ("word", "---")]


class WordsTest(unittest.TestCase):
    def check_lines(self, texts, pattern, rule, allowed=lambda name: False):
        """Fails if a line of `texts` matches `pattern`, unless its file is allowed to."""
        found = lines_with(texts, pattern, allowed)
        self.assertFalse(found, f"{rule}:\n" + "\n".join(found))

    def test_words_have_one_meaning(self):
        self.check_lines(CPP_CODE, OLD_NAMES, "names that were replaced (lib/glossary.md)")
        plain = {name: text for name, text in TEXT.items()
                 if (is_code(name) or name.endswith(".md")) and name != "tests/words_test.py"}
        self.check_lines(plain, VAGUE_WORDS, "say which program, thread or function is meant")
        code = {name: text for name, text in plain.items() if is_code(name)}
        self.check_lines(code, HEADLESS, "a comment says what something is or does, without free "
                         "relative clauses (What ..., Whether ...)")

    def test_the_glossaries_name_what_there_is(self):
        names = {name for text in CPP_CODE.values() for name in re.findall(r"\w+", text)}
        names |= {"ooc", "std"} | ELEMENT_TYPES
        for glossary in GLOSSARIES:
            named = re.findall(r"`([A-Za-z_]\w*(?:::\w+)*)(?:\(\))?`", TEXT[glossary])
            unknown = [name for name in named if not set(name.split("::")) <= names]
            self.assertFalse(unknown, f"{glossary} names what is not in the code")

    def test_words_of_users_are_few_and_are_explained_once(self):
        of_users, of_developers = (words_of(TEXT[glossary]) for glossary in GLOSSARIES)
        self.assertLessEqual(len(of_users), MAX_WORDS_OF_USERS)
        self.assertLessEqual(SOME_OF_THE_DATA, set(of_users))
        _, in_the_code, rest = re.split(r"(?m)^## ", TEXT[GLOSSARIES[1]], maxsplit=2)
        self.assertEqual(set(words_of(in_the_code)) - set(of_users) - {"cold", "warm"}, set())
        once = of_users + words_of(rest)
        self.assertEqual([word for word in set(once) if once.count(word) > 1], [])
        self.assertGreaterEqual(len(of_developers), 40)

    def test_users_read_one_word_for_some_of_the_data(self):
        documents = {name: without_code(text) for name, text in TEXT.items()
                     if name == "README.md" or re.fullmatch(r"docs/[a-z-]+\.md", name)}
        self.check_lines(documents, OTHER_WORDS, "one of " + ", ".join(sorted(SOME_OF_THE_DATA)),
                         allowed=lambda name: name in ("docs/glossary.md", "docs/reference.md"))


if __name__ == "__main__":
    unittest.main()
