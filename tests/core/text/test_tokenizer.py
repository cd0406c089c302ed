"""The tokenizer: words, identifiers, short words, stems, languages."""

from __future__ import annotations

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.text import tokenizer


def same_term(a: str, b: str, language: tokenizer.Language = "en") -> bool:
    return bool(set(tokenizer.terms(a, language)) & set(tokenizer.terms(b, language)))


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("edit main.go please", "main.go"),
        ("a blue-green rollout", "blue-green"),
        ("written in C++ mostly", "c++"),
        ("the C# client", "c#"),
        ("call parseHTTPRequest()", "parseHTTPRequest"),
        ("set max_tokens=5", "max_tokens"),
        ("deploy to k8s", "k8s"),
        ("Python 3.11 only", "3.11"),
        ("port 8080", "8080"),
        ("Go, JS and CI", "js"),
    ],
)
def test_an_identifier_is_found_by_its_own_name(text: str, identifier: str) -> None:
    [whole, *_] = tokenizer.terms(identifier, "en")
    assert whole in tokenizer.terms(text, "en")


def test_identifier_styles_are_one_word() -> None:
    assert same_term("maxTokens", "max_tokens")
    assert same_term("max-tokens", "MaxTokens")


def test_parts_of_an_identifier_are_words_too() -> None:
    terms = tokenizer.terms("parseHTTPRequest in user_profile.py", "en")
    assert {"pars", "http", "request", "profil"} <= set(terms)


def test_several_of_an_acronym_are_that_acronym() -> None:
    assert [tokenizer.terms(text, "en") for text in ("PDFs", "APIs", "VMs")] == [["pdf"], ["api"], ["vm"]]


def test_a_version_is_not_its_numbers() -> None:
    assert not same_term("3.11", "3.12")


def test_a_thousands_separator_does_not_split_a_number() -> None:
    assert same_term("4,000 euros", "4000")


def test_c_plus_plus_is_not_c() -> None:
    assert not same_term("c++", "c")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("deploys", "deploy"),
        ("deploying", "deployed"),
        ("tests", "testing"),
        ("Caroline's", "caroline"),
        ("e-mail", "email"),
    ],
)
def test_english_forms_meet(a: str, b: str) -> None:
    assert same_term(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [("configuração", "configuracao"), ("implantações", "implantação"), ("senhas", "senha"), ("Decisão", "decisao")],
)
def test_portuguese_forms_meet_with_and_without_accents(a: str, b: str) -> None:
    assert same_term(a, b, "pt")


def test_part_of_a_longer_word_is_no_match() -> None:
    assert not same_term("art", "start")
    assert not same_term("go", "django")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what is the name of the server", "en"),
        ("qual é o nome do servidor", "pt"),
        ("nao sei onde esta o arquivo", "pt"),
        ("kubernetes postgres", None),
        ("", None),
    ],
)
def test_language_is_told_by_function_words(text: str, language: str | None) -> None:
    assert tokenizer.detect_language(text) == language


def test_topic_words_leave_out_what_carries_none() -> None:
    assert [w.folded for w in tokenizer.topic_words("What did we decide about the cache?")] == ["decide", "cache"]
    assert [w.folded for w in tokenizer.topic_words("o que nós decidimos sobre o cache?")] == ["decidimos", "cache"]
    assert tokenizer.topic_words("what about it?") == []


def test_an_acronym_is_a_topic_although_the_word_is_not() -> None:
    assert "it" in {w.folded for w in tokenizer.topic_words("who leads the IT team")}
    assert "it" not in {w.folded for w in tokenizer.topic_words("who leads it")}
    assert "go" in {w.folded for w in tokenizer.topic_words("is Go used")}


@pytest.mark.parametrize(
    ("text", "is_topic"),
    [
        ("which services are written in go?", True),
        ("do we use go?", True),
        ("go version?", True),
        ("usamos go aqui?", True),
        ("go 1.22 release notes", True),
        ("how do I go back?", False),
        ("where did we go yesterday?", False),
        ("go ahead", False),
        ("Go on", False),
        ("ready to go", False),
    ],
)
def test_the_language_go_is_told_from_the_verb(text: str, is_topic: bool) -> None:
    assert ("go" in {w.folded for w in tokenizer.topic_words(text)}) is is_topic


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_folded_terms(text: str) -> None:
    terms = tokenizer.terms(text)
    assert all(terms)
    assert all(term == term.lower() or not term.isascii() for term in terms)
    assert not any(unicodedata.combining(c) for term in terms for c in term)
    assert tokenizer.terms(text) == terms


@given(st.lists(st.from_regex(r"[a-z]{3,10}", fullmatch=True), max_size=20))
@settings(max_examples=60, deadline=None)
def test_plain_words_give_one_term_each_in_order(words: list[str]) -> None:
    terms = tokenizer.terms(" ".join(words), "en")
    assert terms == [tokenizer.stem(w, "en") for w in words]


def test_threads_do_not_mix_their_words() -> None:
    texts = [
        " ".join(f"{beginning}{'xyzw'[n % 4]}{'aeiou'[n % 5]}{'bcdfg'[n // 20]}{ending}" for n in range(100))
        for beginning, ending in (("calibr", "ations"), ("organ", "izing"), ("hope", "fulness"), ("general", "ities"))
    ]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda text: tokenizer.terms(text, "en"), texts))
    finally:
        sys.setswitchinterval(before)
    alone = snowballstemmer.stemmer("english")
    assert together == [[alone.stemWord(word) for word in text.split()] for text in texts]
