"""What does the key of a profile update name? (spec/memory.md §5.2)"""

from __future__ import annotations

_ALIASES: dict[str, str] = {
    alias: field
    for field, aliases in {
        "name": "name",
        "role": "role",
        "expertise_level": "expertise_level expertise level",
        "preferred_language": "preferred_language language lang",
        "communication_style": "communication_style comm_style style",
        "company": "company employer organization org",
        "location": "location city country timezone tz",
        "certifications": "certifications certification certs cert",
        "skills": "skills skill",
        "goals": "goals goal objectives objective",
        "interests": "interests interest hobbies hobby",
        "directives": "directives directive",
        "milestones": "milestones milestone",
        "stances": "stances stance position opinion",
    }.items()
    for alias in aliases.split()
}
LEVELS = {
    **dict.fromkeys(("beginner", "novice", "iniciante"), "beginner"),
    **dict.fromkeys(("intermediate", "mid", "intermediario"), "intermediate"),
    **dict.fromkeys(("expert", "advanced", "senior", "avancado"), "expert"),
}
_OPERATIONS = {
    **dict.fromkeys(("add",), "add"),
    **dict.fromkeys(("replace", "set"), "replace"),
    **dict.fromkeys(("remove", "done", "delete", "del"), "remove"),
}
MAP_REMOVALS = {
    **dict.fromkeys(("env_remove", "environment_remove", "remove_env", "remove_environment"), "environment"),
    **dict.fromkeys(
        ("preferences_remove", "preference_remove", "remove_preference", "remove_preferences"), "preferences"
    ),
}
MARKS = {"sensitive_mark": True, "mark_sensitive": True, "sensitive_unmark": False, "unmark_sensitive": False}


def parse_key(key: str) -> tuple[str, str]:
    """``(field, operation)`` of an update key; field is ``""`` when the key is a free preference."""
    name = key.strip().lower().replace(" ", "_").replace("-", "_")
    if name in _ALIASES:
        return _ALIASES[name], "add"
    head, _, tail = name.rpartition("_")
    if head in _ALIASES and tail in _OPERATIONS:
        return _ALIASES[head], _OPERATIONS[tail]
    first, _, rest = name.partition("_")
    if rest in _ALIASES and first in _OPERATIONS:
        return _ALIASES[rest], _OPERATIONS[first]
    return "", "add"
