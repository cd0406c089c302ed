"""Updates are told from rephrasings and other facts, in English and Portuguese (spec/memory.md §18.1 rows 1-5)."""

from __future__ import annotations

import pytest

from chatls_core.memory import Memory
from chatls_core.memory.slots import Relation, compare
from tests.core.memory import statement_pairs, statement_pairs_later, statement_pairs_spoken
from tests.core.memory.conftest import USER, SetClock

UPDATES = [
    ("We indent with 2 spaces", "We indent with 4 spaces"),
    ("My manager is Ana", "Bruno is my new manager"),
    ("My manager is Ana", "My new manager is Bruno"),
    ("The tech lead is Ana", "Bruno is our new tech lead"),
    ("Meu gestor é o Paulo", "My manager is now Clara"),
    ("O meu chefe é o Paulo", "A Clara é a minha nova chefe"),
    ("My editor is Vim", "I use VS Code now instead of Vim"),
    ("My editor is Vim", "I switched to VS Code"),
    ("I use Vim as my editor", "My editor is now Helix"),
    ("Uso MySQL no projeto atlas", "O projeto atlas usa PostgreSQL agora"),
    ("O projeto usa Python 3.11", "Atualizamos para Python 3.12"),
    ("The licence is MIT", "We relicensed the project under Apache-2.0"),
    ("Team has 5 members", "The team now has 6 people"),
    ("Fazemos deploy às sextas", "Já não fazemos deploy às sextas"),
    ("Uso Firefox", "Troquei o Firefox pelo Brave"),
    ("Eu fumo", "Parei de fumar"),
    ("I am vegetarian", "I'm not vegetarian anymore"),
    ("I'm single", "I got married"),
    ("I am 34 years old", "I'm 35 years old"),
    ("Tenho 34 anos", "Tenho 35 anos"),
    ("Tenho dois filhos", "Tenho três filhos"),
    ("We retry 3 times", "We retry 5 times"),
    ("We host on AWS", "Now we host on GCP"),
    ("Odeio Java", "Gosto de Java"),
    ("Call me Bob", "Call me Robert"),
    ("My name is Bob", "Call me Robert"),
    ("Project uses Python 3.11", "Project uses Python 3.12"),
    ("Uses Node 18", "Upgraded to Node 20"),
    ("Team has 5 members", "The team has 6 members"),
    ("Team has five members", "Team has 6 members"),
    ("A equipe tem 5 membros", "A equipe tem 6 membros"),
    ("User prefers tabs over spaces", "User prefers spaces over tabs"),
    ("O usuário prefere tabs em vez de espaços", "O usuário prefere espaços em vez de tabs"),
    ("Uses Postgres, not MySQL", "Uses MySQL, not Postgres"),
    ("Uses MySQL", "Uses Postgres, not MySQL"),
    ("User lives in Lisbon", "User lives in Porto"),
    ("User lives in Lisbon", "User moved to Porto"),
    ("Usuário mora em Lisboa", "Usuário mudou-se para o Porto"),
    ("User works at Acme", "User joined Globex"),
    ("User works at Acme", "User no longer works at Acme"),
    ("User works as a data analyst", "User works as a staff engineer"),
    ("User likes coffee", "User does not like coffee"),
    ("O usuário gosta de café", "O usuário não gosta de café"),
    ("Never push to main", "Always push to main"),
    ("Deploy on Fridays is forbidden", "Deploy on Fridays is allowed"),
    ("Project uses Postgres", "The project migrated from Postgres to MySQL"),
    ("O projeto usa Redis", "O projeto não usa mais Redis"),
    ("The staging URL is https://a.example.com", "The staging URL is https://b.example.com"),
    ("API timeout is 30s", "API timeout was raised to 60s"),
    ("User prefers dark mode", "User prefers light mode"),
    ("User uses vim", "User now uses emacs"),
    ("CI uses GitHub Actions", "CI uses Jenkins"),
    ("Deploy branch is main", "Deploy branch is release"),
    ("Standup is on Mondays", "Standup moved to Tuesdays"),
    ("Team meets on Tuesdays", "Team meets on Thursdays"),
    ("The deadline is March 3", "The deadline is April 12"),
    ("Uses pytest for testing", "Uses unittest for testing"),
    ("Logs are stored in S3", "Logs are stored in GCS"),
    ("The tech lead is Ana", "Bruno is the tech lead"),
    ("O banco de dados é Postgres", "O banco de dados é MySQL"),
]

APART = [
    ("I met with 3 clients", "I met with 5 clients"),
    ("We launched with 3 customers", "We launched with 5 customers"),
    ("We indent Python with 4 spaces", "We indent JavaScript with 2 spaces"),
    ("Bruno is my friend", "Ana is my friend"),
    ("We host the docs on GitHub", "We host the app on AWS"),
    ("My editor for Python is PyCharm", "I use Vim for config files"),
    ("Uso Vim para Go", "Uso PyCharm para Python"),
    ("Gosto de café", "Gosto de chá"),
    ("Tenho um cão", "Tenho um gato"),
    ("Uso de memória é alto", "Uso de CPU é alto"),
    ("I'm learning Rust", "I'm learning Go"),
    ("A equipa de QA tem 3 pessoas", "A equipa de backend tem 5 pessoas"),
    ("Call me when the build fails", "Call me Bob"),
    ("The CI database is SQLite", "The database is Postgres"),
    ("The new office is in Porto", "The old office is in Lisbon"),
    ("User likes coffee", "User likes tea"),
    ("User speaks English", "User speaks German"),
    ("Project uses Redis", "Project uses Postgres"),
    ("Server 1 runs nginx", "Server 2 runs nginx"),
    ("service A calls service B", "service B calls service A"),
    ("In March 2025 we deployed billing to Frankfurt", "In March 2026 we deployed billing to Frankfurt"),
    ("User is a developer", "User is a father of two"),
    ("The API is slow", "The API is written in Go"),
    ("User has a dog named Rex", "User has a cat named Tom"),
    ("Maria lives in Lisbon", "User lives in Porto"),
    ("Prefers Go for services", "Prefers Rust for CLI tools"),
    ("Uses tabs for Go files", "Uses spaces for Python files"),
    ("The staging database is Postgres", "The production database is MySQL"),
    ("auth tokens expire after 15 minutes", "session cookies expire after 30 minutes"),
    ("User wants commit messages in English", "User wants answers in Portuguese"),
    ("Redis runs on port 6379", "Postgres runs on port 5432"),
    ("The main branch is protected", "The main branch is called trunk"),
    ("User completed the AWS course in 2024", "User completed the GCP course in 2025"),
    ("User is allergic to peanuts", "User is allergic to shellfish"),
    ("Component para of writer 1 owns queue tute", "Component pelo of writer 1 owns queue tute"),
]

SAME = [
    ("User prefers concise answers", "the user prefers concise answers."),
    ("Access tokens expire after 15 minutes", "The access token expires after 15 minutes"),
    ("Usuário prefere respostas curtas", "O usuário prefere respostas curtas"),
    ("User prefers short answers", "O usuário prefere respostas curtas"),
    ("The retry limit is 5", "O limite de tentativas é 5"),
    ("The demo is on Thursday", "A demo é na quinta"),
    ("Marta's birthday is May 3", "O aniversário da Marta é 3 de maio"),
    ("User plays guitar", "O usuário toca violão"),
    ("O serviço de carrinho é escrito em Java", "The cart service is written in Java"),
    ("User is allergic to peanuts", "O usuário é alérgico a amendoim"),
    ("Use double quotes in JSON", "Usar aspas duplas em JSON"),
]


@pytest.mark.parametrize(
    ("old", "new"),
    [*UPDATES, *statement_pairs.UPDATES, *statement_pairs_later.UPDATES, *statement_pairs_spoken.UPDATES],
)
def test_the_new_value_takes_the_place_of_the_old(old: str, new: str) -> None:
    assert compare(old, new) is Relation.UPDATES


@pytest.mark.parametrize(
    ("one", "other"),
    [*APART, *statement_pairs.BOTH_HOLD, *statement_pairs_later.BOTH_HOLD, *statement_pairs_spoken.BOTH_HOLD],
)
def test_both_facts_hold(one: str, other: str) -> None:
    assert compare(one, other) is Relation.UNRELATED
    assert compare(other, one) is Relation.UNRELATED


@pytest.mark.parametrize(("one", "other"), [*statement_pairs_later.TOO_HARD, *statement_pairs_spoken.TOO_HARD])
def test_an_update_that_is_not_told_leaves_both(one: str, other: str) -> None:
    assert compare(one, other) is Relation.UNRELATED


ALL_HOLD = """
User moved to Berlin
User moved from Windows to Ubuntu
User moved to the platform team
User works at Hooli as a platform engineer
User works at the office on Mondays
User joined a book club
User prefers short answers without emojis
User dislikes ORMs
User's daughter is called Clara
User is allergic to peanuts
User is learning Japanese
User plays the cello
User likes pair programming
O usuário gosta de café sem açúcar
The ORM is Prisma
The billing service listens on port 7443
The orders database is Postgres 16
CI runs on Buildkite
Releases are cut every second Thursday
The staging cluster lives in Frankfurt
Feature flags are kept in Unleash
The mobile app is written in Kotlin Multiplatform
Never force-push to the release branch
Secrets live in Vault under kv/payments
The design system is called Papaya
Marta is the product owner of checkout
A equipe de dados usa dbt e Snowflake
O relatório fiscal é gerado pelo serviço Ledger
O deploy de produção precisa de duas aprovações
A documentação fica no Notion
The monorepo is built with Bazel
Flaky tests are quarantined in tests/flaky
The public API is versioned by date
Customers in Brazil are billed in BRL
The on-call phone is shared between Rui and Dana
Error budget for checkout is 0.1 percent
Prefer dataclasses over dicts for internal records
Code reviews are preferred over pair programming in the data team
The search index is rebuilt nightly at 3 am
gRPC is used between internal services
The landing page is built with Astro
User prefers tabs in Go
Indent with spaces everywhere else
""".strip().splitlines()


def test_a_memory_of_statements_that_all_hold_is_left_alone() -> None:
    related = [(a, b, found) for a in ALL_HOLD for b in ALL_HOLD if a != b and (found := compare(a, b)) != "unrelated"]
    assert related == []


@pytest.mark.parametrize(("old", "new"), SAME)
def test_a_rephrasing_says_nothing_new(old: str, new: str) -> None:
    assert compare(old, new) is Relation.SAME


def test_a_more_exact_statement_refines() -> None:
    assert compare("User lives in Porto", "User lives in Porto, Portugal") is Relation.REFINES


def test_the_users_name_means_the_user() -> None:
    assert compare("User lives in Lisbon", "Ana lives in Porto") is Relation.UNRELATED
    assert compare("User lives in Lisbon", "Ana lives in Porto", names=frozenset({"ana"})) is Relation.UPDATES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("O usuário mora em Recife", "User moved to Berlin"),
        ("User works at Totvs", "O usuário foi contratado pela Locaweb"),
        ("User's boss is Kofi", "O usuário agora responde à Lena"),
        ("Carla lidera o time de dados", "The data team is now led by Vítor"),
    ],
)
def test_an_update_in_other_words_is_found_among_many_facts_that_share_more(
    memory: Memory, clock: SetClock, old: str, new: str
) -> None:
    kinds = ("User likes the {} band", "O usuário gosta de {} com leite", "The {} team uses data from Redis")
    names = (a + b + c for a in "bdfgklmnpr" for b in "aeiou" for c in ("lo", "mi", "su"))
    for number, name in enumerate(names):
        memory.remember(kinds[number % 3].format(name), source=USER)
    memory.remember(old, source=USER)
    clock.forward(days=30)
    found = memory.remember(new, source=USER)
    assert [p.content for p in found.superseded] == [old]
