"""Rankings are chosen by name."""

import subprocess
import sys

import pytest

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.search.lexical import plain_scores
from langchain_agentmemory.search.ranking import get_ranking


def test_the_known_rankings_have_their_own_thresholds() -> None:
    assert get_ranking("default").threshold == 0
    assert get_ranking("reference").threshold == 0.3
    assert get_ranking("default") is get_ranking("default")


def test_an_unknown_ranking_is_refused_with_the_known_names() -> None:
    with pytest.raises(InvalidInput, match=r"'best'.*default, reference"):
        get_ranking("best")


def test_a_full_match_scores_high_and_a_partial_one_less() -> None:
    tokenizer = get_ranking("default").tokenizer
    documents = [("Mara keeps bees", ""), ("Mara sold honey", ""), ("Rain", "")]
    full, partial, none = plain_scores(
        tokenizer.query("Does Mara keep bees?"), documents, tokenizer
    )
    assert 1 >= full > 0.6 > partial > none == 0


def test_importing_the_search_loads_neither_dictionary_nor_stemmer() -> None:
    modules = ("ranking", "shelf", "pipeline")
    imports = ", ".join(f"langchain_agentmemory.search.{name}" for name in modules)
    heavy = {"jieba", "Stemmer", "langchain", "sqlalchemy"}
    script = f"import sys, {imports}; print({heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
