"""Searching passages, as a person would notice it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from chatls_core.text.ranking import Hit, Passage, PassageIndex, strong_match

from .ranking_cases import ANSWERED, FACTS, UNRELATED


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def index(*texts: str) -> PassageIndex:
    return PassageIndex(Passage(str(i), text) for i, text in enumerate(texts))


@pytest.fixture(scope="module")
def memory() -> PassageIndex:
    return PassageIndex(FACTS)


def test_questions_find_what_answers_them(memory: PassageIndex) -> None:
    first = sum(bool(hits := memory.search(question, 5)) and hits[0].id in answers for question, answers in ANSWERED)
    found = sum(bool(set(ids(memory.search(question, 5))) & answers) for question, answers in ANSWERED)
    assert found >= 0.97 * len(ANSWERED)
    assert first >= 0.88 * len(ANSWERED)


def test_unrelated_questions_bring_nothing_unasked(memory: PassageIndex) -> None:
    assert [question for question in UNRELATED if any(map(strong_match, memory.search(question, 3)))] == []


def test_unrelated_questions_mostly_find_nothing_at_all(memory: PassageIndex) -> None:
    assert sum(bool(memory.search(question, 3)) for question in UNRELATED) <= 0.1 * len(UNRELATED)


@pytest.mark.parametrize("question", ["", "  \n", "what about it?", "e então?", "?!", "the"])
def test_a_question_without_a_topic_finds_nothing(memory: PassageIndex, question: str) -> None:
    assert memory.search(question, 10) == []


_ELSEWHERE = (
    "The cat sleeps on the sofa",
    "Lunch is at noon",
    "A bicycle stands in the hall",
    "The garden needs water",
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("golang", "the service is in Go"),
        ("Go", "the service is in Go"),
        ("go", "the service is in golang"),
        ("v1.2.3", "we are on release 1.2.3"),
        ("1.2.3", "we pinned v1.2.3"),
        ("nodejs", "the tool runs on Node.js"),
        ("dotnet", "the backend runs on .NET 8"),
        (".NET", "the backend runs on .NET 8"),
        ("csharp", "the client is written in C#"),
        ("oauth", "auth by OAuth2"),
        ("OAuth 2", "auth by OAuth2"),
        ("x86", "an x86_64 box"),
        ("vscode", "the editor is VS Code"),
        ("VS Code", "edits in Visual Studio Code"),
        ("front end", "the frontend is in React"),
        ("frontend", "the front-end is in React"),
        ("HTTP server", "class HTTPServer listens"),
        ("configura\u0063\u0327a\u0303o", "a configuração fica em YAML"),
        ("configuração", "a configurac\u0327a\u0303o fica em YAML"),
        ("configuracao", "a configu\u00adração fica em YAML"),
        ("oeuvre", "an œuvre"),
        ("where do I live?", "user: I just moved to Porto"),
        ("数据库", "我们的数据库是 Postgres"),
        ("Postgres", "我们的数据库是Postgres吗"),
        ("データベース", "データベースは速い"),
    ],
)
def test_a_thing_is_found_by_its_other_spellings(question: str, text: str) -> None:
    assert ids(index(text, *_ELSEWHERE).search(question, 5)) == ["0"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("java", "written in JavaScript"),
        ("1.2.3", "we are on v1.2.4"),
        ("golang", "we go home at six"),
        ("数学", "数据库"),
    ],
)
def test_what_only_looks_alike_is_not_found(question: str, text: str) -> None:
    assert index(text, *_ELSEWHERE).search(question, 5) == []


def test_a_letter_that_names_a_thing_is_asked_for() -> None:
    found = index("Service B listens on port 9090", "Service A listens on port 8080", *_ELSEWHERE)
    assert ids(found.search("which port does service A use?", 5))[0] == "1"
    assert ids(found.search("a service", 5)) == ids(found.search("service", 5))


def test_among_equals_the_newest_comes_first_whatever_the_order_they_were_added_in() -> None:
    day = datetime(2026, 5, 13)
    passages = [
        *(Passage(f"day {n}", "the cache is Redis", day - timedelta(days=n)) for n in (3, 1, 2)),
        *(Passage(name, "the cache is Redis", day) for name in ("b", "a")),
    ]
    wanted = ["a", "b", "day 1", "day 2", "day 3"]
    for order in (passages, passages[::-1], passages[2:] + passages[:2]):
        found = PassageIndex(order, standalone=True)
        assert ids(found.search("which cache", 6)) == wanted
        assert ids(found.search("which cache", 3)) == wanted[:3]


def test_one_or_several_are_added_replaced_and_removed() -> None:
    found = index("alpha apple")
    found.add(Passage("b", "banana split"))
    found.add([Passage("c", "cherry pie"), Passage("d", "date cake")])
    assert ids(found.search("banana cherry", 5)) == ["b", "c"]
    found.replace(Passage("b", "blueberry muffin"))
    assert found.search("banana", 5) == []
    assert len(found) == 4
    assert found.remove(["c", "d"])
    assert not found.remove("c")
    assert ids(found.search("blueberry cherry date", 5)) == ["b"]


def test_an_empty_index_finds_nothing() -> None:
    assert PassageIndex().search("anything", 5) == []


def test_no_more_than_k_hits(memory: PassageIndex) -> None:
    assert len(memory.search("user project team tests logs", 2)) == 2
    assert memory.search("user", 0) == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("main.go", "main.go wires the server"),
        ("max tokens", "maxTokens is 2048"),
        ("C++", "the resizer is in C++"),
        ("deploys", "we deploy on Tuesday"),
        ("who taught the course", "she teaches the course"),
        ("kubernetes", "runs on k8s"),
        ("which database", "data is in PostgreSQL"),
        ("senha", "the password is rotated monthly"),
        ("configuracao", "A configuração fica no repositório"),
        ("festivall tickets", "the festival was great"),
        ("writer", "I write every morning"),
    ],
)
def test_a_word_meets_its_relatives(question: str, text: str) -> None:
    assert ids(index("an unrelated line about boats", text).search(question, 1)) == ["1"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("art", "start the engine"),
        ("rate", "generate a report"),
        ("political", "feeling positively great"),
        ("happy", "it happened"),
    ],
)
def test_a_likeness_of_letters_is_no_relation(question: str, text: str) -> None:
    assert index(text, "another line").search(question, 5) == []


def test_the_word_itself_beats_its_relatives() -> None:
    found = index("she plays the violin", "her favourite instrument is there").search("instrument", 2)
    assert ids(found) == ["1", "0"]


def test_a_stop_word_in_capitals_is_searched() -> None:
    assert "0" in ids(index("the IT department is in Braga", "it is late").search("where is IT located", 5))


class TestEvidence:
    def test_coverage_is_the_share_of_the_question_that_a_passage_holds(self) -> None:
        full, half, *_ = index("redis cache eviction", "redis only", "something else").search("redis cache eviction", 3)
        assert full.coverage == pytest.approx(1)
        assert 0 < half.coverage < 0.5
        assert strong_match(full)
        assert not strong_match(half)

    def test_a_rare_word_is_worth_more_than_a_common_one(self) -> None:
        texts = ["common zebra", *["common line"] * 8]
        hits = {hit.id: hit for hit in index(*texts).search("common zebra", 9)}
        assert hits["0"].coverage > 0.9
        assert all(hit.coverage < 0.5 for id_, hit in hits.items() if id_ != "0")

    def test_scores_compare_across_questions(self) -> None:
        memory = index("redis cache eviction policy", "the sun is shining", "a third line")
        [good] = memory.search("eviction policy", 1)
        [poor] = memory.search("policy of the insurance company in Braga", 1)
        assert good.score > 2 * poor.score

    def test_why_names_the_words(self) -> None:
        [hit] = index("data is in PostgreSQL 16", "a line").search("which database for data", 1)
        assert "data" in hit.why
        assert "(for database)" in hit.why

    def test_weight_multiplies_the_score(self) -> None:
        found = PassageIndex([Passage("a", "redis cache"), Passage("b", "redis cache", weight=3)]).search("redis", 2)
        assert ids(found) == ["b", "a"]

    def test_tags_are_found(self) -> None:
        memory = PassageIndex([Passage("a", "we moved", tags=("infrastructure",)), Passage("b", "nothing here")])
        assert ids(memory.search("infrastructure", 5)) == ["a"]


class TestDates:
    memory = PassageIndex(
        [
            Passage("may", "met the team", datetime(2023, 5, 8, 14)),
            Passage("june", "met the team", datetime(2023, 6, 9, 14)),
            Passage("next", "met the team", datetime(2024, 5, 10, 14)),
        ]
    )

    @pytest.mark.parametrize(
        ("question", "best"),
        [
            ("the team in May 2023", "may"),
            ("team meeting 9 June", "june"),
            ("o time em maio de 2024, team", "next"),
            ("team on 2024-05-10", "next"),
            ("the team on a Monday in 2023", "may"),
        ],
    )
    def test_a_named_date_finds_passages_of_that_time(self, question: str, best: str) -> None:
        assert self.memory.search(question, 3)[0].id == best

    def test_may_and_march_are_not_always_months(self) -> None:
        may, other = (
            Passage("may", "the plan", datetime(2023, 5, 2)),
            Passage("other", "the plan", datetime(2023, 9, 2)),
        )
        first, second = PassageIndex([other, may]).search("may I change the plan", 2)
        assert first.id == "other"
        assert first.score == pytest.approx(second.score)

    def test_a_date_written_in_the_text_beats_the_date_of_writing(self) -> None:
        noise = [Passage(f"n{i}", f"note number {i}", datetime(2026, 3, 1 + i)) for i in range(9)]
        outage = Passage("outage", "Outage in March 2026 by an expired certificate", datetime(2026, 5, 2))
        assert PassageIndex([*noise, outage]).search("what happened in March 2026", 1)[0].id == "outage"


def dialogue(*sessions: Sequence[str], start: datetime = datetime(2024, 1, 1, 9)) -> list[Passage]:
    return [
        Passage(f"s{s}:{t}", text, start + timedelta(days=s))
        for s, turns in enumerate(sessions)
        for t, text in enumerate(turns)
    ]


CHAT = dialogue(
    [
        "Ann: Hi Bob! How often do you go to the gym with your family?",
        "Bob: Three times a week, it keeps us on track.",
        "Ann: Lovely.",
        "Bob: And how is the pottery?",
    ],
    [
        "Ann: I bought a new kiln for the pottery studio.",
        "Bob: Great! Which colour is it?",
        "Ann: Dark green.",
        "Bob: I like that.",
    ],
    [
        "Bob: The car broke down again.",
        "Ann: Oh no! The old Volvo?",
        "Bob: Yes, the gearbox.",
        "Ann: Take the train then.",
    ],
)


class TestDialogue:
    memory = PassageIndex(CHAT)

    def test_an_answer_is_found_by_the_question_before_it(self) -> None:
        found = self.memory.search("How often does Bob go to the gym with his family?", 2)
        assert "s0:1" in ids(found)

    def test_an_answer_by_its_neighbour_alone_is_never_strong(self) -> None:
        [answer] = [hit for hit in self.memory.search("gym family", 4) if hit.id == "s0:1"]
        assert answer.coverage == 0
        assert not strong_match(answer)
        assert "beside" in answer.why

    def test_neighbours_of_other_conversations_do_not_help(self) -> None:
        assert "s1:0" not in ids(self.memory.search("gym", 10))

    def test_the_named_speaker_comes_first(self) -> None:
        ann, bob = "what did Ann say about pottery", "what did Bob say about pottery"
        assert self.memory.search(ann, 1)[0].id == "s1:0"
        assert "said by Bob" in self.memory.search(bob, 1)[0].why

    def test_facts_of_one_moment_do_not_pull_each_other_in(self) -> None:
        now = datetime(2026, 1, 1)
        texts = ("User likes jazz", "Project uses Rust", "Team meets at nine", "Logs go to Loki", "CI is slow")
        facts = PassageIndex(Passage(f"f{i}", text, now) for i, text in enumerate(texts))
        assert ids(facts.search("jazz", 5)) == ["f0"]

    def test_a_first_person_question_prefers_the_users_own_words(self) -> None:
        turns = dialogue(
            *[
                [
                    f"user: I drive a red {car} to work, any tips on parking?",
                    f"assistant: Parking a red {car} near work is easiest before nine.",
                ]
                for car in ("Volvo", "Fiat", "Skoda", "Dacia")
            ],
        )
        turns = [Passage(f"c{i}", p.text, datetime(2024, 1, 1 + i // 4)) for i, p in enumerate(turns)]
        assert PassageIndex(turns).search("where do I drive my red Skoda", 1)[0].id == "c4"


class TestChanges:
    def test_an_added_passage_is_found_at_once(self) -> None:
        memory = index("one line")
        assert memory.search("kayak", 1) == []
        memory.add(Passage("new", "a kayak trip"))
        assert ids(memory.search("kayak", 1)) == ["new"]
        assert len(memory) == 2
        assert "new" in memory

    def test_a_removed_passage_is_gone(self) -> None:
        memory = index("a kayak trip", "another line")
        assert memory.remove("0")
        assert not memory.remove("0")
        assert memory.search("kayak", 1) == []
        assert "0" not in memory

    def test_adding_a_known_id_replaces_its_text(self) -> None:
        memory = index("a kayak trip", "another line")
        memory.add(Passage("0", "a train ride"))
        assert memory.search("kayak", 1) == []
        assert ids(memory.search("train", 1)) == ["0"]
        assert len(memory) == 2

    def test_replace_keeps_only_what_is_given(self) -> None:
        memory = index("a kayak trip", "a train ride")
        memory.replace([Passage("1", "a train ride"), Passage("2", "a plane")])
        assert memory.search("kayak", 1) == []
        assert ids(memory.search("train", 1)) == ["1"]
        assert ids(memory.search("plane", 1)) == ["2"]

    def test_an_emptied_index_can_be_filled_again(self) -> None:
        memory = index(*(f"line number{i}" for i in range(200)))
        for i in range(200):
            assert memory.remove(str(i))
        assert memory.search("number7", 1) == []
        memory.add(Passage("x", "number7 again"))
        assert ids(memory.search("number7", 1)) == ["x"]

    def test_searches_and_changes_from_several_threads(self) -> None:
        memory = index(*(f"deploy line {i}" for i in range(50)))

        def work(worker: int) -> None:
            for i in range(30):
                memory.add(Passage(f"{worker}-{i}", f"deploy note {i}"))
                assert memory.search("deploy note", 5)
                assert memory.remove(f"{worker}-{i}")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert len(memory) == 50


class TestVectors:
    @staticmethod
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[float("dog" in t or "hound" in t), float("car" in t), 0.01] for t in texts]

    def test_meaning_adds_what_words_cannot_find(self) -> None:
        passages = [Passage("a", "her hound sleeps"), Passage("b", "the car is red")]
        hits = PassageIndex(passages, embed=self.embed).search("dog", 2)
        assert hits[0].id == "a"
        assert "close in meaning" in hits[0].why

    def test_words_outrank_meaning(self) -> None:
        passages = [Passage("meaning", "a hound barks"), Passage("words", "Zanzibar office")]
        assert ids(PassageIndex(passages, embed=self.embed).search("dog of the Zanzibar office", 2))[0] == "words"

    def test_a_model_that_finds_anything_alike_takes_no_place_from_a_passage_that_holds_all_that_is_asked(self) -> None:
        def confused(texts: Sequence[str]) -> list[list[float]]:
            return [[1.0, 0.0] if "29" in text or "?" in text else [0.9, 0.4] for text in texts]

        passages = [Passage(f"f{n}", f"Walk {n} led over hill {n * 7 % 11}") for n in range(200)]
        passages += [Passage(f"n{n}", f"Staging of play {n} went well") for n in range(30)]
        passages += [Passage("answer", "The staging database is called heron"), Passage("like", "A staging database")]
        hits = PassageIndex(passages, embed=confused).search("what is the staging database called?", 40)
        assert ids(hits)[:2] == ["answer", "like"]

    def test_a_failing_function_leaves_the_words(self, caplog: pytest.LogCaptureFixture) -> None:
        def broken(texts: Sequence[str]) -> list[list[float]]:
            raise ConnectionError("no route")

        memory = PassageIndex([Passage("a", "redis cache")], embed=broken)
        assert ids(memory.search("redis", 1)) == ["a"]
        assert "no route" in caplog.text

    def test_a_changed_passage_gets_a_new_vector(self) -> None:
        memory = PassageIndex([Passage("a", "the car"), Passage("b", "a boat")], embed=self.embed)
        assert ids(memory.search("dog", 2)) == []
        memory.add(Passage("a", "the hound"))
        assert ids(memory.search("dog", 2)) == ["a"]


def test_times_with_and_without_a_zone_live_together() -> None:
    zone = timezone(timedelta(hours=-3))
    memory = PassageIndex(
        [
            Passage("naive", "deploy day", datetime(2026, 5, 4)),
            Passage("aware", "deploy day", datetime(2026, 5, 5, tzinfo=zone)),
        ]
    )
    assert set(ids(memory.search("deploy", 5))) == {"naive", "aware"}


def test_headings_before_facts_are_no_speakers() -> None:
    now = datetime(2026, 1, 1)
    texts = [
        *(
            "Decision: use Postgres",
            "Decision: deploy on Tuesdays",
            "Decision: drop Windows",
            "Decision: two reviewers",
        ),
        *("Preference: tabs", "Preference: short answers", "Preference: dark theme", "Preference: no emojis"),
    ]
    notes = PassageIndex(Passage(f"n{i}", text, now) for i, text in enumerate(texts))
    assert ids(notes.search("Postgres", 8)) == ["n0"]
    assert ids(notes.search("decision about Windows", 1)) == ["n2"]


def test_dialogue_without_names_is_read_off_its_cohesion() -> None:
    sessions = [
        ["the kiln cracked", "was the kiln old?", "a very old kiln, bought used", "my violin hangs there"],
        [
            "my gearbox makes noise",
            "gearbox noise costs money",
            "so I ask the garage",
            "a garage with cheap gearbox offers",
        ],
        [
            "I practise violin daily",
            "violin practice in the evening?",
            "evening concerts need it",
            "so the violin is in tune",
        ],
        ["tomato seeds arrived", "which tomato kind?", "green tomato, tiny seeds", "plant the seeds in April"],
    ]
    chat = [
        Passage(f"t{s}{i}", text, datetime(2024, 1, 1 + s))
        for s, turns in enumerate(sessions)
        for i, text in enumerate(turns)
    ]
    found = ids(PassageIndex(chat).search("violin", 8))
    assert set(found) == {"t03", "t20", "t21", "t23"}
    assert found.index("t20") < found.index("t03")


class TestAskedTimes:
    """With ``now``, a time in the question is a condition."""

    now = datetime(2026, 5, 13, 12)
    memory = PassageIndex(
        [
            Passage("then", "deployed the gateway", datetime(2026, 5, 5, 9)),
            Passage("lunch", "lunch with Ana", datetime(2026, 5, 6, 13)),
            Passage("before", "fixed the gateway", datetime(2026, 4, 1, 9)),
        ]
    )

    def test_a_question_of_nothing_but_a_time_finds_what_happened_then(self) -> None:
        found = self.memory.search("what did we do last week?", 5, now=self.now)
        assert set(ids(found)) == {"then", "lunch"}
        assert all("(2026-05-04 → 2026-05-10)" in hit.why for hit in found)

    def test_the_right_thing_at_the_wrong_time_is_no_strong_match(self) -> None:
        first, second = self.memory.search("gateway last week", 5, now=self.now)
        assert (first.id, strong_match(first)) == ("then", True)
        assert (second.id, strong_match(second)) == ("before", False)

    def test_a_time_of_which_nothing_is_known_finds_nothing(self) -> None:
        assert self.memory.search("what did we do yesterday?", 5, now=self.now) == []

    def test_without_now_the_words_alone_count(self) -> None:
        assert {"then", "before"} <= set(ids(self.memory.search("gateway last week", 5)))


def test_a_long_paste_does_not_drown_the_question() -> None:
    lines = [f"note{i} about thing{i}" for i in range(300)]
    memory = index(*lines, "Redis eviction is allkeys-lru")
    question = "why does redis eviction fail? " + " ".join(f"WARN note{i} at frame{i * 31}" for i in range(300))
    assert "300" in ids(memory.search(question, 5))


def test_a_long_question_can_be_met_by_a_few_telling_words() -> None:
    memory = index("Redis eviction policy is allkeys-lru", *(f"line {i} of a poem" for i in range(30)))
    padding = (
        "while refactoring checkout retries, invoices, emails, dashboards, queues, translations and onboarding screens"
    )
    hit, *others = memory.search(f"{padding} please explain the redis eviction policy again", 3)
    assert hit.id == "0"
    assert hit.coverage < 0.5
    assert strong_match(hit)
    assert not any(map(strong_match, others))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what does my boss like to drink?", "pt_cha"),
        ("when is the flight to Porto?", "pt_voo"),
        ("quanto custa o aluguel do apartamento?", "en_rent"),
        ("qual é a cor favorita da minha filha?", "en_color"),
        ("who is my neighbour?", "pt_vizinho"),
    ],
)
def test_what_was_said_in_one_language_is_found_in_the_other(question: str, first: str) -> None:
    memory = PassageIndex(
        [
            Passage("pt_cha", "O chefe do usuário gosta de chá preto"),
            Passage("pt_voo", "O voo para o Porto sai às 7 da manhã"),
            Passage("pt_vizinho", "O vizinho dele se chama Rui"),
            Passage("en_rent", "The rent of the apartment is 900 euros"),
            Passage("en_color", "Her daughter's favorite color is green"),
            Passage("en_car", "The car is a red Fiat"),
            Passage("en_chef", "A chef taught him to cook risotto"),
        ]
    )
    assert ids(memory.search(question, 1)) == [first]


def test_in_a_memory_of_one_language_no_translation_is_looked_for() -> None:
    memory = PassageIndex([Passage("film", "They were filming a commercial"), Passage("red", "The red bike is stolen")])
    assert memory.search("which network does the movie use?", 3) == []  # "rede" and "filme" have these stems
