"""How profile values are cut into items, and when two items are one (spec/memory.md §5.3, §5.4, §5.7)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from chatls_core.memory.wordlists import word_set

_BULLET = "-•* \t"
_STATUS_TAIL = re.compile(r"\s+(?:—|–|--)\s+(?P<tail>[^—–]*)\Z")
_STATUS_CUE = re.compile(
    r"progress|pending|complet|\bdone\b|review|answered|✅|✔|andamento|pendente|conclu|finaliz|feito|revis|respondid",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"\([^()]*\)")
_DONE = word_set(
    """
    completed done finalizado finalizada concluido concluida ✅ ✔ ✔️
    """
)
_ECHO_VERB = re.compile(
    r"\s*(?:please |por favor )?(?:remove|delete|clear|update|remova|remover|apague|apagar|limpe|limpar|atualize"
    r"|atualizar"
    r"|exclua|excluir)\b",
    re.IGNORECASE,
)
_ECHO_SUBJECT = re.compile(
    r"\b(?:goals?|profile|certifications?|memory|metas?|objetivos?|perfil|certificaç|memória)", re.IGNORECASE
)
_SCOPE = re.compile(r"\s*\[scope:([^\]]+)\]\s*(.*)\Z", re.IGNORECASE | re.DOTALL)
_HARD = re.compile(
    r"\b(?:never|nunca|jamais|forbidden|proibid\w*|must|não pode|nao pode|sempre|always|obrigat\w*)\b", re.IGNORECASE
)


def split_items(text: str, *, sentences: bool = False) -> list[str]:
    """Items of a list value: cut at ``,`` ``;`` and newlines outside brackets (``sentences``: not at commas)."""
    separators = ";\n" if sentences else ",;\n"
    items, start, depth = [], 0, 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif char in separators and depth == 0:
            items.append(text[start:at])
            start = at + 1
    items.append(text[start:])
    return [cleaned for item in items if (cleaned := clean_item(item))]


def clean_item(text: str) -> str:
    """An item without its bullet, on one line."""
    return " ".join(text.strip().lstrip(_BULLET).split())


def fold(text: str) -> str:
    """Lower case without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def stem(text: str) -> str:
    """What makes two items one: no status tail, no parentheses, no decoration, accents or case."""
    text = re.sub(r"[*`~]", "", text)
    if (tail := _STATUS_TAIL.search(text)) and _STATUS_CUE.search(tail["tail"]):
        text = text[: tail.start()]
    text = fold(_PARENTHESES.sub(" ", text))
    return " ".join(text.split()).rstrip(" .,;:!?-")


def is_fragment(text: str) -> bool:
    """Whether an item is half of something that a comma cut: its parentheses do not balance."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return True
    return depth > 0


def is_completed(text: str) -> bool:
    """Whether a goal says of itself that it is done."""
    return any(fold(word.strip("()[]{}.,;:!*_~`—–-")) in _DONE for word in text.split())


def is_instruction_echo(text: str) -> bool:
    """Whether an item is a request about memory that was filed as a goal."""
    return bool(_ECHO_VERB.match(text) and _ECHO_SUBJECT.search(text))


def upsert(items: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """Items with ``new`` ones put in place of those with the same stem, else at the end; fragments are refused."""
    by_stem = {stem(i): i for i in items}
    for item in new:
        if (key := stem(item)) and not is_fragment(item):
            by_stem[key] = item
    return tuple(by_stem.values())


def scope_of(directive: str) -> tuple[str, str]:
    """``(scope, text)`` of a directive; the scope is empty for one that holds everywhere."""
    match = _SCOPE.match(directive)
    return (match[1].strip(), match[2].strip()) if match and match[1].strip() else ("", directive)


def is_hard_rule(directive: str) -> bool:
    """Whether a directive is a must rather than a wish."""
    return bool(_HARD.search(directive))


_SENSITIVE = frozenset(
    fold(word)
    for word in word_set(
        """
        salary salaries income renda salario salários fgts patrimonio saldo finance finances financial financas
        investment investments investimento investimentos divida dividas debt debts loan emprestimo imposto impostos
        tax taxes bank banco conta cartao card pix iban cpf rg cnpj ssn passport passaporte address endereco phone
        telefone celular mobile whatsapp email saude health doenca disease illness medical medication medicine medico
        medica medicamento diagnosis therapy terapia allergy allergies alergia alergias familia family filho filha
        filhos son daughter child children kids wife husband spouse esposa marido conjuge arma armas weapon weapons
        gun guns religion religiao religious politica politics political password senha pin birthday nascimento
        birthdate secret secrets segredo segredos passphrase passwd pwd credential credentials apikey
        """
    )
)
_NAMING_SOFTWARE = word_set("font ip mac dns bind listen server host base proxy log test mock fake servidor teste")
"""Words before a private one that make it a matter of software: ``font_family``, ``ip_address``."""
_SOFTWARE = word_set(
    """
    check checks probe endpoint url path port ip dns server host client api sdk framework library lib module package
    plugin component layout template widget theme style format regex validation strategy driver middleware process
    branch version versions dependency dependencies test tests fixture fixtures servidor formato teste testes
    """
)
"""Words behind a private one that do: ``health_check``, ``email_client``, ``child_process``."""
_KEYS = word_set("key keys token tokens chave chaves")
_OTHER_KEYS = word_set("primary foreign sort partition cache leader hot shortcut max arrow function public publica")
"""Words before a key or token that make it no secret: ``primary_key``, ``max_tokens``, …"""
_OF_KEYS = word_set(
    "binding bindings map mapping mappings layout repeat limit limits count budget length files name names"
)
"""… and words behind it: ``key_bindings``, ``token_limit``."""
_KEY_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")


def is_sensitive_key(key: str) -> bool:
    """Whether a key names something private, by whole words (spec/memory.md §5.7, §18.1 row 23)."""
    words = [fold(word) for word in _KEY_WORD.findall(key)]
    return any(
        (word in _SENSITIVE and before not in _NAMING_SOFTWARE and behind not in _SOFTWARE)
        or (word in _KEYS and before not in _OTHER_KEYS and behind not in _OF_KEYS)
        for before, word, behind in zip(["", *words], words, [*words[1:], ""], strict=False)
    )
