"""Who is who: ids, categories and tags (spec/memory.md §4.2-§4.4, §7.1)."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime

CATEGORIES = ("architecture", "pattern", "preference", "gotcha", "project", "personal", "general")
"""Known categories of facts."""

_TAGGED = re.compile(r"\s*\[([A-Za-z]+)\]\s*(.*)\Z", re.DOTALL)

_CUES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (category, re.compile(words, re.IGNORECASE))
    for category, words in (
        (
            "preference",
            r"\bi prefer\b|\bprefers?\b|\bprefiro\b|\bprefere\b|preference|always use|never use|sempre us|nunca us"
            r"|communication style|\bestilo de\b",
        ),
        (
            "personal",
            r"my name is|meu nome|\bi am an?\b|\bi'm an?\b|\bsou\b|certification|certified|certificaç|certificado"
            r"|\bskills?\b|expertise|\bworks? as\b|trabalh[ao] como|\blives? in\b|\bmora em\b|\bbirthday\b|aniversário",
        ),
        ("architecture", r"architecture|arquitetura|design decision|system design|module structure"),
        ("pattern", r"convention|\bidiom\b|best practice|\bpatterns?\b|padrão|padrao"),
        (
            "gotcha",
            r"gotcha|pitfall|workaround|caveat|\bbugs?\b|fails when|\bbroken\b|\berrors?\b|\bfalha quando\b",
        ),
        ("project", r"\bprojects?\b|projeto|repository|repositório|\brepo\b|codebase|/users/"),
    )
)

_TECHNOLOGIES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (tag, re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])", re.IGNORECASE))
    for tag, words in (
        ("go", r"golang|go(?= (?:code|project|module|service|\d|test|binary|program|\w+ in go))|in go"),
        ("python", r"python\d*(?:\.\d+)*|pytest|pip"),
        ("rust", r"rust|cargo"),
        ("javascript", r"javascript|js|node(?:\.?js)?|npm|pnpm|yarn"),
        ("typescript", r"typescript|ts"),
        ("java", r"java|kotlin|gradle|maven"),
        ("react", r"react(?:\.?js)?"),
        ("docker", r"docker|dockerfile|docker-compose"),
        ("kubernetes", r"kubernetes|k8s|kubectl|helm"),
        ("aws", r"aws|s3|ec2|lambda"),
        ("gcp", r"gcp|google cloud|bigquery"),
        ("azure", r"azure"),
        ("sql", r"sql|postgres(?:ql)?|mysql|sqlite|mariadb"),
        ("redis", r"redis"),
        ("api", r"apis?|rest|graphql|openapi"),
        ("grpc", r"grpc|protobuf"),
        ("git", r"git|github|gitlab"),
        ("cicd", r"ci|cd|ci/cd|cicd|github actions|jenkins|pipelines?"),
        ("testing", r"tests?|testing|testes?|unittest"),
        ("tui", r"tui|bubbletea|terminal ui"),
        ("cli", r"cli|command line"),
        ("auth", r"auth|oauth2?|jwt|login|authentication"),
        ("terraform", r"terraform|opentofu"),
        ("llm", r"llms?|openai|claude|gemini|anthropic"),
    )
)


def fact_id(content: str) -> str:
    """Id of a fact: 24 hex characters of SHA-256 over the lower-cased, trimmed content (spec/memory.md §4.2)."""
    return hashlib.sha256(content.strip().lower().encode()).hexdigest()[:24]


def episode_id(date: datetime, project: str, summary: str) -> str:
    """Id of an episode (spec/memory.md §7.1)."""
    text = f"{date:%Y-%m-%d}|{project}|{' '.join(summary.lower().split())}"
    return "ep_" + hashlib.sha256(text.encode()).hexdigest()[:24]


def split_category(content: str) -> tuple[str, str]:
    """``("gotcha", text)`` for ``[gotcha] text``; ``("", content)`` when no known category leads."""
    match = _TAGGED.match(content)
    if match and match[1].lower() in CATEGORIES:
        return match[1].lower(), match[2]
    return "", content


def classify(content: str) -> str:
    """The category a text seems to belong to (spec/memory.md §4.3), by whole words."""
    for category, cue in _CUES:
        if cue.search(content):
            return category
    return "general"


def tags_of(content: str) -> tuple[str, ...]:
    """Technologies a text names as whole words, in a fixed order (spec/memory.md §4.4 without its false positives)."""
    return tuple(tag for tag, words in _TECHNOLOGIES if words.search(content))
