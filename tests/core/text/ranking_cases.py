"""A small memory of our own, with questions, what answers them, and questions that nothing in it answers."""

from __future__ import annotations

from datetime import datetime

from chatls_core.text.ranking import Passage

_FACTS = {
    "indent": "User prefers tabs over spaces in Go code",
    "python": "Project atlas uses Python 3.12",
    "postgres": "The atlas API stores its data in PostgreSQL 16, not MySQL",
    "deploy": "Deploys of atlas go out every Tuesday through the blue-green pipeline",
    "lisbon": "User lives in Lisbon",
    "sister": "User's sister Marta studies medicine in Coimbra",
    "dog": "User has a dog named Biscuit",
    "vegetarian": "User is vegetarian and allergic to peanuts",
    "editor": "User works in VS Code with the Vim extension",
    "tests": "Run the tests with pytest -n auto; the suite takes nine minutes",
    "flaky": "test_checkout_retry is flaky on macOS runners",
    "auth": "The login service issues JWT access tokens that expire after 15 minutes",
    "cache": "Redis holds the session cache; eviction policy is allkeys-lru",
    "main_go": "main.go wires the HTTP server and reads CONFIG_PATH",
    "cpp": "The image resizer is written in C++ and called through cgo",
    "ci": "CI runs on GitHub Actions with self-hosted runners",
    "review": "Pull requests need two approvals before merge",
    "commit": "Commit messages follow the Conventional Commits format",
    "budget": "The team's cloud budget is 4,000 euros a month",
    "team": "The platform team has six members; Ines leads it",
    "meeting": "Stand-up meeting is at 09:30 on weekdays",
    "incident": "Outage in March 2026: the certificate of the gateway expired",
    "retention": "Logs are kept for 30 days, then moved to cold storage",
    "k8s": "Production runs on k8s in the eu-west-1 region",
    "lint": "ruff and mypy --strict must pass before every commit",
    "flags": "Feature flags live in flags.yaml and are read at start-up",
    "guitar": "User plays the guitar on weekends",
    "running": "User is training for the Porto marathon in November",
    "timezone": "User's time zone is Europe/Lisbon",
    "answers": "User wants short answers without emojis",
    "payments": "Payments are processed by Stripe; refunds need manual approval",
    "rust": "The log shipper is being rewritten in Rust",
    "naming": "Database columns are snake_case, JSON fields camelCase",
    "max_tokens": "max_tokens is capped at 2048 for the summary endpoint",
    "pt_deploy": "O ambiente de homologação é atualizado toda sexta-feira à noite",
    "pt_senha": "As senhas dos usuários são guardadas com argon2",
    "pt_cafe": "O usuário toma café sem açúcar",
    "pt_reuniao": "A reunião de planejamento acontece na primeira segunda-feira do mês",
    "pt_banco": "O banco de dados de testes roda em um contêiner Docker",
    "pt_prazo": "O prazo de entrega da versão 2 é 15 de janeiro de 2027",
}

FACTS = tuple(
    Passage(id=name, text=text, time=datetime(2026, 3 + i % 6, 1 + i % 27, 10))
    for i, (name, text) in enumerate(_FACTS.items())
)

ANSWERED: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (question, frozenset(names.split()))
    for question, names in (
        ("Do I use tabs or spaces?", "indent"),
        ("Which database does atlas use?", "postgres pt_banco"),
        ("which Python version is the project on", "python"),
        ("When do we deploy atlas?", "deploy"),
        ("blue green deployment", "deploy"),
        ("Where do I live?", "lisbon"),
        ("What is my sister's name?", "sister"),
        ("Do I have any pets?", "dog"),
        ("What food can't I eat, any allergies?", "vegetarian"),
        ("what editor do I use", "editor"),
        ("How do I run the tests?", "tests"),
        ("which tests are flaky", "flaky"),
        ("how long is a token valid", "auth"),
        ("session cache eviction", "cache"),
        ("what does main.go do", "main_go"),
        ("where is C++ used", "cpp"),
        ("What CI do we use?", "ci"),
        ("how many approvals does a PR need to merge", "review"),
        ("format of commit messages", "commit"),
        ("monthly cloud budget", "budget"),
        ("who leads the platform team", "team"),
        ("when is the stand-up", "meeting"),
        ("why did the gateway go down in March", "incident"),
        ("how long are logs retained", "retention"),
        ("kubernetes region", "k8s"),
        ("what must pass before committing", "lint"),
        ("where are feature flags", "flags"),
        ("which instrument do I play", "guitar"),
        ("marathon training", "running"),
        ("my time zone", "timezone"),
        ("how are refunds handled", "payments"),
        ("Rust rewrite", "rust"),
        ("column naming convention", "naming"),
        ("maxTokens limit", "max_tokens"),
        ("Quando o ambiente de homologação é atualizado?", "pt_deploy"),
        ("como guardamos as senhas", "pt_senha"),
        ("how are passwords stored", "pt_senha"),
        ("reuniao de planejamento", "pt_reuniao"),
        ("qual o prazo da versão 2", "pt_prazo"),
        ("o banco de testes roda onde", "pt_banco"),
        ("onde eu moro", "lisbon"),
        ("what happened in March 2026", "incident"),
    )
)
"""Questions with the facts that answer them; one of these must come first."""

UNRELATED: tuple[str, ...] = (
    "",
    "   ",
    "thanks!",
    "ok, go on",
    "what do you think about it?",
    "e agora?",
    "How tall is Mount Everest?",
    "write a haiku about autumn leaves",
    "convert this svg to png",
    "explain monads",
    "What's the capital of Mongolia?",
    "regex to match an email address",
    "center a div with flexbox",
    "how do I exit a while loop",
    "recommend a good science fiction novel",
    "translate 'good morning' to Japanese",
    "fix the typo in the README heading",
    "quanto é 17 vezes 23?",
    "me explique o teorema de Pitágoras",
    "why is the sky blue",
    "binary search tree deletion algorithm",
    "how do I sort a list by key in descending order",
    "make the button rounder and the font bigger",
    "what does this stack trace mean: NullPointerException at line 12",
)
"""Questions that nothing in the memory answers."""
