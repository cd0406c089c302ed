"""CPF, CNPJ, social security number and IBAN are told from every other number, and kept to the user alone."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.text.personal_numbers import is_cnpj, is_cpf, is_iban, is_personal, mask

PERSONAL = [
    ("O CPF do usuário é 529.982.247-25", "529.982.247-25"),
    ("529.982.247-25 é o CPF da Marta", "529.982.247-25"),
    ("CPF 52998224725", "52998224725"),
    ("cpf: 529982247-25.", "529982247-25"),
    ("A empresa do usuário tem o CNPJ 11.222.333/0001-81", "11.222.333/0001-81"),
    ("CNPJ 11222333000181", "11222333000181"),
    ("O CNPJ novo é 12.ABC.345/01DE-35", "12.ABC.345/01DE-35"),
    ("User's SSN is 536-90-4399", "536-90-4399"),
    ("User's social security number: 536904399", "536904399"),
    ("The SSN 536 90 4399 is on the form", "536 90 4399"),
    ("Salary goes to DE89 3704 0044 0532 0130 00 at Commerzbank", "DE89 3704 0044 0532 0130 00"),
    ("IBAN GB29NWBK60161331926819", "GB29NWBK60161331926819"),
    ("iban pt50 0002 0123 1234 5678 9015 4", "pt50 0002 0123 1234 5678 9015 4"),
    ("Conta: BR1800360305000010009795493C1 no Itaú", "BR1800360305000010009795493C1"),
    ("NL91ABNA0417164300, FR14 2004 1010 0505 0001 3M02 606", "NL91ABNA0417164300"),
]
OTHER = [
    "O CPF do usuário é 529.982.247-26",
    "Order 52998224725 was refunded",
    "Pedido 529982247-25 saiu para entrega",
    "O telefone é 11987654321 e o outro (11) 98765-4321",
    "Call +55 11 98765-4321 or 415-555-2671",
    "Order 123-45-6789 shipped",
    "Part no. 536-90-4399 fits the pump",
    "Ticket 536-90-4399 is open",
    "The range 000-12-3456 is never issued, nor are 666-12-3456 and 900-12-3456",
    "UUID 123e4567-e89b-12d3-a456-426614174000 is the tenant",
    "The commit is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
    "Version 529.982.247-25.1 of the firmware",
    "release-529.982.247-25",
    "The server is at 192.168.100.101 and 10.20.30.40",
    "Timestamps as 1717171717171 and 20260412093000",
    "The build id is DE89370400440532013001",
    "SKU AB12 3456 7890 1234 5678",
    "Meeting 2026-04-12 10:30-11:30, room 536",
    "The CPF field has 11 digits and two check digits",
    "cpf_cnpj is validated in src/br/documents.py:120",
    "CNPJ 11.222.333/0001-82 fails the check",
    "111.111.111-11",
    "IBANs have at most 34 characters",
    "IBAN DE89 3704 0044 0532 0130 01",
    "Price 529.982.247,25",
]


@pytest.mark.parametrize(("text", "number"), PERSONAL)
def test_a_number_of_a_person_is_told(text: str, number: str) -> None:
    assert is_personal(text)
    masked = mask(text)
    assert number not in masked
    assert "[REDACTED]" in masked
    assert mask(masked) == masked


@pytest.mark.parametrize("text", OTHER)
def test_another_number_is_left_alone(text: str) -> None:
    assert not is_personal(text)
    assert mask(text) == text


def test_what_stands_around_a_number_stays() -> None:
    assert mask("CPF 529.982.247-25, IBAN DE89 3704 0044 0532 0130 00.") == "CPF [REDACTED], IBAN [REDACTED]."


@given(
    st.uuids(), st.binary(min_size=20, max_size=20), st.integers(1, 10**14), st.lists(st.integers(0, 999), min_size=3)
)
def test_ids_hashes_counts_and_versions_are_nobodys(
    tenant: uuid.UUID, digest: bytes, number: int, version: list[int]
) -> None:
    text = f"tenant {tenant}, commit {digest.hex()}, order {number}, version {'.'.join(map(str, version))}"
    assert mask(text) == text


@given(st.text("0123456789", min_size=9, max_size=9), st.integers(1, 9))
def test_a_wrong_check_digit_makes_no_cpf(head: str, off: int) -> None:
    valid = [f"{head}{n:02d}" for n in range(100) if is_cpf(f"{head}{n:02d}")]
    assert len(valid) == (0 if len(set(valid[0] if valid else head)) == 1 else 1)
    for cpf in valid:
        assert not is_cpf(cpf[:-1] + str((int(cpf[-1]) + off) % 10))


@given(st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=12, max_size=12))
def test_a_cnpj_has_one_pair_of_check_digits(head: str) -> None:
    assert sum(is_cnpj(f"{head}{n:02d}") for n in range(100)) == (0 if set(head) == {"0"} else 1)


@given(st.text("0123456789", min_size=18, max_size=18))
def test_an_iban_has_one_pair_of_check_digits_from_02_to_98(account: str) -> None:
    assert sum(is_iban(f"DE{n:02d}{account}") for n in range(2, 99)) == 1
