"""Secrets are hidden wherever they stand; what only looks like one stays readable."""

from __future__ import annotations

import io
import logging
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.text.redaction import MASK, RedactingFilter, contains_secret, redact

_random = random.Random(7)


def noise(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """A made-up key body, so that no string in this file looks like a leaked one to a scanner."""
    return "7a" + "".join(_random.choice(alphabet) for _ in range(length - 2))


HEX = "0123456789abcdef"
KEYS = {
    "anthropic": "sk-ant-" + "api03-" + noise(40),
    "openai": "sk-" + noise(40),
    "openai letters": "sk-" + "abcdefghij" * 3,
    "openai project": "sk-proj-" + noise(40),
    "openrouter": "sk-or-v1-" + noise(40),
    "stripe": "sk_live_" + noise(24),
    "stripe public": "pk_test_" + noise(24),
    "xai": "xai-" + noise(40),
    "stackspot": "stk_" + noise(32),
    "hugging face": "hf_" + noise(34),
    "google": "AIza" + noise(35),
    "aws": "AKIA" + "A7" * 8,
    "aws session": "ASIA" + "B3" * 8,
    "github": "ghp_" + noise(36),
    "github oauth": "gho_" + noise(36),
    "github server": "ghs_" + noise(36),
    "github fine": "github_pat_" + noise(60),
    "gitlab": "glpat-" + noise(20),
    "slack bot": "xoxb-" + noise(30),
    "slack user": "xoxp-" + noise(30),
    "npm": "npm_" + noise(36),
    "pypi": "pypi-AgE" + noise(60),
    "sendgrid": "SG." + noise(22) + "." + noise(43),
    "groq": "gsk_" + noise(50),
    "vault": "hvs." + noise(40),
    "databricks": "dapi" + noise(32, HEX),
    "shopify": "shpat_" + noise(32, HEX),
    "telegram": "123456789" + ":AA" + noise(33),
    "jwt": "eyJ" + noise(20) + ".eyJ" + noise(30) + "." + noise(43),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("around", ["{}", "key is {} ok", '"{}",', "x={}", "({})", "url?a={}&b=1", "`{}`", "<{}>"])
def test_known_credentials_are_hidden_wherever_they_stand(name: str, around: str) -> None:
    text = around.format(KEYS[name])
    hidden = redact(text)
    assert KEYS[name] not in hidden
    assert KEYS[name][-12:] not in hidden
    assert MASK in hidden
    assert contains_secret(text)


SECRETS = {
    "Authorization: Bearer abcDEF123456.xyz": "abcDEF123456",
    "curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZDE=' x": "dXNlcjpwYXNzd29yZDE",
    "authorization: token 0123456789abcdef": "0123456789abcdef",
    "DB_PASSWORD=hunter2": "hunter2",
    "export API_TOKEN=abcdefghijkl": "abcdefghijkl",
    'password = "correct horse battery"': "correct horse",
    "password: s3cr3t!": "s3cr3t!",
    "password=correcthorsebattery": "correcthorse",
    "senha: Abacaxi2024": "Abacaxi2024",
    "minha senha é Abacaxi2024.": "Abacaxi2024",
    "my password is hunter22, keep it": "hunter22",
    '{"access_token": "a1b2c3d4e5f6g7h8"}': "a1b2c3d4",
    "{'client_secret': 'a1b2c3d4e5f6g7h8'}": "a1b2c3d4",
    '"refreshToken": "a1b2c3d4e5f6g7h8"': "a1b2c3d4",
    "api_key: 0a1b2c3d4e5f6071": "0a1b2c3d",
    "x-api-key: 0a1b2c3d4e5f6071": "0a1b2c3d",
    "--api-key 0a1b2c3d4e5f6071": "0a1b2c3d",
    "mysql --password=Tr0ub4dor": "Tr0ub4dor",
    "postgres://app:pa55word@db.example.com/x": "pa55word",
    "redis://:pa55word@cache:6379": "pa55word",
    "https://host/cb?access_token=abcdef123456&x=1": "abcdef123456",
    "https://s3/x?X-Amz-Signature=0123456789abcdef": "0123456789abcdef",
    "https://hooks.slack.com/services/T000/B000/abcdefghijklmnop": "abcdefghijklmnop",
    "Cookie: session=abcdef; theme=dark": "abcdef",
    "aws_secret_access_key = wJalrXUtn7EMIbPxRfi9YzEXAMPLEKEY": "wJalrXUtn7",
    "AccountKey=abcd1234efgh5678ijkl==;EndpointSuffix=core": "abcd1234",
}


@pytest.mark.parametrize("text", SECRETS)
def test_announced_secrets_are_hidden_and_the_rest_stays(text: str) -> None:
    hidden = redact(text)
    assert SECRETS[text] not in hidden
    assert MASK in hidden
    assert hidden.startswith(text[:4])


def test_a_private_key_is_hidden_whole_even_when_cut_off() -> None:
    body = "\n".join(noise(64) for _ in range(5))
    begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
    assert redact(f"before\n{begin}\n{body}\n{end}\nafter") == f"before\n{MASK}\nafter"
    assert noise(3) not in redact(f"{begin}\n{body}")
    assert body[:64] not in redact(f"{begin}\n{body}")
    assert "PUBLIC" in redact("-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----")


INNOCENT = (
    "def login(user: str, password: str) -> Token:",
    "password: Optional[str] = None",
    "max_tokens=4096, temperature=0",
    "total_tokens: 1200",
    "token = get_token()",
    "token = secrets.token_hex(16)",
    "token = self.token",
    "const token = await fetchToken(user1);",
    "connect(password=password)",
    "api_key=os.environ['OPENAI_API_KEY']",
    "API_KEY=${API_KEY}",
    "API_KEY=$API_KEY",
    "password: ${{ secrets.DB_PASSWORD }}",
    "OPENAI_API_KEY=<your key>",
    "api_key: your-api-key",
    "password: required",
    "password: ********",
    "the token is valid for 30 days",
    "a password reset mail is sent",
    "Bearer authentication is used",
    "uses a bearer token, see docs",
    "commit 3f2a9c8e7b6d5a4f3e2d1c0b9a8f7e6d5c4b3a29",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "tokenizer: Snowball",
    "secret_name: database-credentials",
    "token_path=/etc/app/token",
    "the sk-learn-style-estimator-interface",
    "git clone git@github.com:owner/repo.git",
    "http://localhost:3000/@user",
    "https://example.com/a?page=2&sort=name",
    "PRIMARY_KEY=user_id",
    "sort_key: created_at",
    "keyboard: qwerty123",
    "senha: obrigatória",
    "os tokens expiram em 15 minutos",
)


@pytest.mark.parametrize("text", INNOCENT)
def test_code_types_and_placeholders_stay(text: str) -> None:
    assert redact(text) == text
    assert not contains_secret(text)


@given(st.lists(st.sampled_from([*INNOCENT, *SECRETS, *KEYS.values(), "\n", " ", "=", '"']), max_size=8).map(" ".join))
@settings(max_examples=120, deadline=None)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text(max_size=300))
@settings(max_examples=120, deadline=None)
def test_any_text_can_be_redacted(text: str) -> None:
    assert isinstance(redact(text), str)


def log_line(*args: object, exc_info: bool = False) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter())
    logger = logging.Logger("redaction-test")
    logger.addHandler(handler)
    logger.error(*args, exc_info=exc_info)
    return stream.getvalue()


def test_log_records_lose_secrets_in_message_arguments_and_traceback() -> None:
    assert "hunter2" not in log_line("login with %s", "DB_PASSWORD=hunter2")
    assert log_line("plain %d", 5) == "plain 5\n"
    assert KEYS["github"] not in log_line({"header": KEYS["github"]})
    try:
        raise ValueError("bad key " + KEYS["openai"])
    except ValueError:
        shown = log_line("failed", exc_info=True)
    assert KEYS["openai"] not in shown
    assert "ValueError: bad key" in shown


def test_secrets_of_a_long_text_are_hidden_wherever_they_stand() -> None:
    pem = f"-----BEGIN PRIVATE KEY-----\n{noise(64)}\n{noise(64)}\n-----END PRIVATE KEY-----\n"
    line = "GET /api/v1/users/42 200 took 12ms\n"
    secrets = [f"DB_PASSWORD={noise(20)}\n", f"Authorization: Bearer {noise(30)}\n", f"{KEYS['github']}\n", pem]
    text = "".join(line * 300 + secret for secret in secrets * 12)
    hidden = redact(text)
    assert hidden == "".join(line * 300 + redact(secret) for secret in secrets * 12)
    assert redact(hidden) == hidden
