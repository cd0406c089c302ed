"""Ordinary prose and code that name no time: a false window narrows a search to the wrong days."""

from __future__ import annotations

from datetime import datetime

import pytest

from chatls_core.text.time_expressions import find

NOW = datetime(2026, 5, 13, 15, 30)

ENGLISH = """
Python 3.11 to 3.12
we moved from Python 3.11 to 3.12
upgraded from 3.11 to 3.12
we went from 3.8 to 3.9
between 3.9 and 3.12
moved from Go 1.21 to 1.22
scores rose from 3.5 to 4.2
not available before PyTorch 1.12
tags going back to Python 3.2
in 2000 Docker containers
April O'Neil reviewed the patch
ask April about the design
June said she prefers tabs
August Wilson wrote plays
an august institution
Jan wrote 3 patches
Black Friday sale page
USA Today reported it
Blue Monday by New Order
try the first for t1
the types T1 and T2
prior to the deploy
later than expected
up to 2000 tokens
so far so good
put it back in the queue
from here on
since the 3rd attempt
before the 2nd test
every Friday we deploy
every Monday at 9
each Tuesday the backup is tested
every other Friday
every March we file taxes
Lua 5.4 and Go 1.22
the March on Washington
over 3 weeks
see W14 of the manual
what is the 30 days retention policy
the trial lasts 2 weeks
it took a day and a half
one and a half times faster
two and a half weeks of work
a score of 5-9, 2025 of them failed
keep logs for 90 days
the cache expires every 15 minutes
a two week sprint is enough
tokens live for 24 hours
backups are kept 12 months
our 5 year plan
a 3 day weekend pass is cheaper
May I ask something?
it may fail
this may break the build
you may 2 or 3 times retry
may the force be with you
we march forward
march on, soldiers
they march in step
ask Marco about the parser
Marco said it is fine
the second place goes to Rust
the second argument is optional
pass it as the second parameter
on the second try it passed
for the third time
first come, first served
the first of many bugs
version 2.11 is out
upgrade to Python 3.11
runs on Python 3.12 and 3.13
we build on 3.11 and 3.12
node 20.11.1 works
requires pydantic>=2.10,<3
chatls 0.4.22 is broken
port 8080 is taken
listen on 8000
it listens on 15 sockets
depends on 27 crates
add 1/2 cup of sugar
3/4 of the users
the ratio is 16/9
half of the 1/4 share
open 24/7
the server is 10.0.0.1
route 192.168.1.0/24
see section 4-22
pages 3-7 of the book
chapter 12 explains it
issue 2016 is closed
PR 1482 adds it
see RFC 2025
HTTP 2026 is no status
2048 bits are enough
in 1024 bytes
resize to 1920 pixels
a buffer of 2000 lines
in 2000 lines of code
from 1000 to 2000 requests
the app went to 404
line 2015 of the file
CVE-2021-44228 again
ISO 8601 and RFC 3339
a week's worth of work
five days' work
day by day
one day it will work
day one experience
the day job
the best day ever
at the end of the day it is code
this day and age
the other day
some day we will
these days
in recent years
for years
years of experience
10 years of experience with Go
she is 30 years old
weekly report
daily notes are on
monthly digest
week over week growth
the next step is to deploy
the next function returns None
the last argument
the last 3 commits
last but not least
the last line
past tense
the past is gone
this time it works
next time
the current directory
the previous session
the following code
the coming changes
that is the present state
sat down and wrote
he sat on the chair
the sun is shining
sun and moon
mon petit chou
thumbs up
wed the two ideas
fri is inside friend and african
a quarter of the memory
a quarter mile
half of the tests
two halves
the end of the file
at the beginning of the function
in the middle of nowhere
the start of the array
rest of the arguments
REST API over HTTP
the rest is history
early return
early exit on error
late binding
later versions fix it
sooner or later
earlier drafts
in the future we will see
from now on use tabs
now we know
since it works
since Marco left
before you push
before commit hooks
after that, run make
until it passes
between A and B
between 3 and 12 retries
from 4 to 22 cores
from A to B
pick 2 to 7 items
from scratch
meet at 10:30
at 8am sharp
at 17h
every morning
never deploy on Fridays
can I deploy this on friday?
around noon
deploy takes 30s
sleep 70s
timeout of 30s
the 30s timeout
in the h1 heading
use an H2 header
Q and A
q1 = 4
P3 priority
set the value to 12
out of memory
an out of 10
the set of sets
dec 12 from the counter
jan is a colleague
the sec filing
mar the surface
april_fools = True
import calendar
calendar.monday
time.march()
friday_job()
--since=HEAD~3
git log --since 5
git checkout v2025.1
commit deadbeef12
9fceb02d0ae598e95dc970b74767f19372d61af8
f47ac10b-58cc-4372-a567-0e02b2c3d479
550e8400-e29b-41d4-a716-446655440000
^1.2.3 || ~2.0
>=3.11,<4
x = 10/5
a[1:3]
0x7e10
#2025
$2025
2025%
if now > 5: return
self.today()
datetime.now()
`yesterday` is a variable
path/to/may/file
docs/2025/notes.md
/var/log/march
https://example.org/2024/05/06/post
me@monday.com
monday.com is a tool
<time>
sed -n 1,400p
chmod 755
ratio 4:3
1.5 GB
12.5%
1,234,567
one of the best
first and second
two of them
a couple of bugs
a few lines
several tests
this one
decades-old code
the century bug
"""

PORTUGUESE = """
de 3.11 a 3.12
entre 1.2 e 1.3
em 2000 Docker containers
em 2024 arquivos
moro na rua 25 de Março
a Avenida 23 de Maio está parada
Rua 15 de Novembro, 200
hoje em dia usamos containers
set1 e set2
mais de 2000
um grupo de 2000
uma janela de 2048
uma prova de 3/4
anterior ao deploy
mais ou menos 5 arquivos
daqui em diante
os dias úteis
os últimos arquivos
cada segunda-feira revisamos
todo dia 5 pagamos as contas
todas as terças tem reunião
a cada 15 dias
faltam mais dois meses de trabalho
levou dois dias e meio
meia hora de trabalho
Marco disse que sim
pergunte ao Marco
o marco do projeto
um marco importante
a segunda opção é melhor
na segunda tentativa funcionou
a quarta parte do texto
na quarta linha
a terceira vez
na sexta posição
a quinta coluna
segunda via do boleto
pode ter erro
deve ter sido isso
vou ter que refazer
sair sem ter feito
seg fault
o set de testes
set de dados
fora de alcance
dom de programar
a política de 30 dias de retenção
guardar por 90 dias
o teste dura 2 semanas
validade de 12 meses
10 anos de experiência
ele tem 30 anos
todo dia
posso fazer deploy na sexta?
aos domingos
dia a dia
bom dia
um dia desses
no fim das contas
no fim do arquivo
no início da função
no meio do caminho
o resto do código
o próximo passo
a próxima função
a última linha
o último argumento
os últimos 3 commits
a sessão anterior
a linha seguinte
este arquivo
esta função
há 3 erros
há muito o que fazer
faz sentido
desde que funcione
antes de publicar
depois de instalar
até que passe
entre A e B
entre 3 e 12 tentativas
de 4 a 22 núcleos
de 1 a 10
versão 2.11
porta 8080
a porta 2025
o erro 404
usa Python 3.11
rodando em 3.11
1/2 xícara
3/4 dos usuários
capítulo 12
página 15
em 2000 linhas
às 10:30
às 17h
o Rio de Janeiro é lindo
sexta-básica não existe
mar aberto
o mar está calmo
dez tentativas
dez erros
cem dias de solidão
no futuro
agora funciona
a partir de agora
daqui para frente
por enquanto
que vem primeiro
quem vem
passado a limpo
o passado
mês a mês
semanalmente
relatório mensal
trimestral
"""


def _lines(block: str) -> list[str]:
    return [line for line in block.strip().splitlines() if line.strip()]


@pytest.mark.parametrize("text", _lines(ENGLISH))
def test_english_prose_and_code_name_no_time(text: str) -> None:
    assert find(text, NOW, "en") == []
    assert find(text, NOW) == []


@pytest.mark.parametrize("text", _lines(PORTUGUESE))
def test_portuguese_prose_names_no_time(text: str) -> None:
    assert find(text, NOW, "pt") == []
    assert find(text, NOW) == []
