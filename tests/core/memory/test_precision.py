"""What rides along unasked among forty things that are known: the answer where one is asked for, else nothing.

The messages are invented after what is typed to a coding assistant all day; many share a word with something known.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chatls_core.memory import Memory

from .conftest import EXTRACTED, USER

KNOWN = """
User moved to Berlin
User works at Hooli as a platform engineer
User prefers short answers without emojis
User's daughter is called Clara
The billing service listens on port 7443
The orders database is Postgres 16
CI runs on Buildkite
Releases are cut every second Thursday
The staging cluster lives in Frankfurt
The mobile app is written in Kotlin Multiplatform
Never force-push to the release branch
Secrets live in Vault under kv/payments
The design system is called Papaya
Marta is the product owner of checkout
A equipe de dados usa dbt e Snowflake
O relatório fiscal é gerado pelo serviço Ledger
A documentação fica no Notion
User is allergic to peanuts
User is learning Japanese
User plays the cello
User hates long meetings
The monorepo is built with Bazel
Flaky tests are quarantined in tests/flaky
The public API is versioned by date
Customers in Brazil are billed in BRL
User's GitHub handle is rosa-dev
The search index is rebuilt nightly at 3 am
PDF rendering uses WeasyPrint
The warehouse service talks to SAP over RFC
Retries are capped at five with jitter
A fila de e-mails usa Redis Streams
Os contratos são assinados pelo DocuSign
O backup noturno vai para o bucket gelo-br
Sandra approves all schema changes
The checkout page must load under 2 seconds
We never use default exports in TypeScript
""".strip().splitlines()

ANSWERED = """
where do I live? | User moved to Berlin
onde eu moro? | User moved to Berlin
which company do I work for? | User works at Hooli as a platform engineer
what is my job? | User works at Hooli as a platform engineer
what's my daughter's name? | User's daughter is called Clara
which port does billing use? | The billing service listens on port 7443
where does CI run? | CI runs on Buildkite
when are releases cut? | Releases are cut every second Thursday
where is the staging cluster? | The staging cluster lives in Frankfurt
what language is the mobile app in? | The mobile app is written in Kotlin Multiplatform
may I force push to the release branch? | Never force-push to the release branch
where are the payment secrets? | Secrets live in Vault under kv/payments
what does the data team use? | A equipe de dados usa dbt e Snowflake
quem gera o relatório fiscal? | O relatório fiscal é gerado pelo serviço Ledger
onde fica a documentação? | A documentação fica no Notion
am I allergic to something? | User is allergic to peanuts
which instrument do I play? | User plays the cello
how is the public API versioned? | The public API is versioned by date
in which currency are Brazilian customers billed? | Customers in Brazil are billed in BRL
what is my GitHub handle? | User's GitHub handle is rosa-dev
which library renders PDFs? | PDF rendering uses WeasyPrint
how does the warehouse service talk to SAP? | The warehouse service talks to SAP over RFC
quem assina os contratos? | Os contratos são assinados pelo DocuSign
para onde vai o backup noturno? | O backup noturno vai para o bucket gelo-br
how fast must the checkout page load? | The checkout page must load under 2 seconds
can I use a default export here? | We never use default exports in TypeScript
""".strip().splitlines()

UNRELATED = """
how do I undo the last git commit?
which branch am I on?
what is a monorepo?
o que é uma documentação?
play a sound when done
learn the weights of the network
gere um relatório de cobertura
write a report
select * from users where id = 1
add a users table to the schema
as a user I want to log in
the user clicks the button and nothing happens
o usuário clica e nada acontece
get the current user from the session
write a function that reverses a string
fix the failing test in test_parser.py
how do I sort a dict by value in Python?
why is my docker build slow?
schedule a meeting for Monday
I live-reload the page but nothing changes
where is the main function?
deploy this
make the page load faster
back up the database
faça um backup do banco
escreva um contrato de aluguel
assine o commit
export this function
create a Kafka consumer in Java
what are good names for a cat?
what's the weather in Paris?
obrigado!
do it
""".strip().splitlines()


@pytest.fixture
def stocked(memory: Memory) -> Memory:
    for text in KNOWN:
        memory.remember(text, source=USER)
    memory.record_episode("Fixed the double charge bug", date=datetime(2026, 4, 12, tzinfo=UTC), source=EXTRACTED)
    return memory


@pytest.mark.parametrize("line", ANSWERED)
def test_the_answer_rides_along_alone(stocked: Memory, line: str) -> None:
    question, answer = line.split(" | ")
    assert [i.text for i in stocked.auto_recall(question).items] == [answer]


@pytest.mark.parametrize("message", UNRELATED)
def test_nothing_rides_along_with_other_work(stocked: Memory, message: str) -> None:
    assert [i.text for i in stocked.auto_recall(message).items] == []


def test_who_asks_about_himself_is_told_about_himself_first(stocked: Memory) -> None:
    assert stocked.recall("where do I live?").items[0].text == "User moved to Berlin"
    assert stocked.recall("what do I play?").items[0].text == "User plays the cello"
