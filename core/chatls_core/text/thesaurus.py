"""Words that mean nearly the same, kinds and their members, and Portuguese–English pairs: general language, no corpus.

A question names the kind ("which *database*", "what *pets*") where the answer names the member ("Postgres", "a *cat*").
Lexical ranking cannot bridge that by itself; these small tables do, at a weight well below the word itself. Only
everyday words and the trade's own vocabulary stand here; a word with several unrelated meanings is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

_SYNONYMS = """
child kid children kids son daughter toddler
parent mom dad mother father mum mama papa
wife husband spouse partner
sibling brother sister
grandma grandmother granny
grandpa grandfather
family relatives
friend buddy pal mate
boyfriend girlfriend
boss manager supervisor
colleague coworker teammate
job work career occupation profession employment
company employer firm business startup
salary pay wage income
buy purchase bought
sell sold
own have
begin start began started
finish end complete completed ended
quit resign leave left
trip travel vacation journey visit tour getaway holiday
hike trek trekking hiking
house home apartment flat
move relocate moved relocated
city town
country nation
movie film
show series sitcom
book novel read reading
author writer
song track tune
music band concert
picture photo photograph image pic
paint painting painted art artwork
draw drawing sketch
hobby pastime interest leisure
exercise workout gym fitness training
sick ill illness disease
injury hurt injured
doctor physician
hospital clinic
medicine medication drug
relax unwind destress stress
happy glad joyful
sad unhappy depressed
angry mad furious upset
afraid scared fear frightened
tired exhausted
favorite favourite prefer best
like love enjoy
hate dislike
think believe opinion
idea plan
goal aim objective target
problem issue trouble difficulty
solution fix
help assist support aid
teach taught teacher instructor tutor
learn study learned studied
school university college education degree
exam test quiz
class course lesson workshop
car vehicle
bike bicycle
road highway street
restaurant diner cafe
meal dinner lunch breakfast
food dish cuisine recipe
cook bake cooked baked cooking baking
dessert sweet cake
drink beverage
dog puppy
cat kitten
gift present
party celebration
marry wedding married
engage engaged proposal
birth born birthday
die death died
win won victory
contest competition tournament
award prize trophy
money cash fund
cheap inexpensive
big large huge
small little tiny
fast quick rapid
begin commence
often frequently
near close nearby
meet met meeting
event festival ceremony
volunteer charity donate fundraiser
church faith religion religious spiritual
identity gender
politics political
phone mobile cellphone
laptop computer
website site
bug defect error fault
crash failure outage incident
deploy deployment release rollout ship
delete remove erase drop
create make made
change modify update edit
choose pick select decide decision chose
repository repo
directory folder
configuration config setting settings
environment env
authentication auth login signin
authorization permission
password credential secret
dependency library package
function method
variable parameter argument
documentation docs readme
pipeline workflow
server backend
client frontend
database db
container docker podman
kubernetes k8s
javascript js
typescript ts
python py
golang go
postgres postgresql
log logging
monitor monitoring observability
speed performance latency
test testing
branch merge
commit push
ticket task card
deadline due
review approve
"""

_KINDS = """
pet: dog cat puppy kitten hamster rabbit parrot turtle goldfish lizard snake guinea
animal: dog cat horse bird turtle rabbit cow sheep goat pig elephant lion tiger bear wolf fox deer whale dolphin
instrument: guitar piano violin cello drums flute clarinet saxophone trumpet ukulele keyboard bass
sport: football soccer basketball tennis baseball volleyball hockey golf rugby swimming surfing skiing snowboarding cricket boxing cycling running
martial: karate judo taekwondo kickboxing jiujitsu aikido kungfu
exercise: yoga running swimming cycling weights pilates jogging boxing cardio squats hiking
hobby: painting gardening photography cooking baking knitting pottery hiking fishing gaming chess dancing writing reading sewing woodworking
activity: hiking camping swimming painting dancing fishing cycling picnic kayaking skiing running yoga museum
outdoor: hiking camping fishing kayaking climbing cycling picnic skiing surfing
art: painting sculpture drawing pottery ceramics photography sketch mural canvas
game: chess poker puzzle videogame console xbox playstation nintendo
country: spain portugal france germany italy england ireland scotland greece sweden norway denmark finland poland austria switzerland netherlands belgium brazil argentina mexico canada japan china india korea thailand vietnam australia egypt turkey morocco kenya
european: spain portugal france germany italy england ireland scotland greece sweden norway denmark finland poland austria switzerland netherlands belgium
city: paris london rome madrid barcelona lisbon porto berlin munich vienna amsterdam dublin prague tokyo seoul beijing sydney toronto vancouver seattle chicago boston miami dallas houston denver austin york angeles francisco recife
state: california texas florida oregon washington colorado michigan ohio georgia arizona nevada alaska minnesota indiana
nature: forest mountain lake river beach ocean waterfall park trail sunset
weather: rain sunny snow storm wind cloudy
season: summer winter spring autumn
family: mother father brother sister son daughter wife husband mom dad grandmother grandfather aunt uncle cousin
food: pizza pasta sushi salad soup rice chicken bread cheese burger taco curry steak
dessert: cake cookie pie brownie chocolate pudding cupcake muffin
recipe: cake soup pasta chicken cookies bread salad sauce
drink: coffee tea beer wine juice water soda
fruit: apple banana orange strawberry mango grape lemon peach pear
vegetable: carrot tomato potato onion spinach broccoli pepper
color: red blue green yellow purple pink black white orange brown
emotion: happy sad angry afraid anxious excited proud grateful
illness: cold flu fever cancer asthma diabetes allergy migraine
allergy: peanut dairy gluten pollen shellfish lactose
vehicle: car truck motorcycle bike bus van
furniture: chair table couch sofa desk bed
clothes: shirt dress shoes jacket jeans hat sweater
subject: math physics chemistry biology history literature
degree: bachelor master phd diploma
profession: teacher nurse doctor engineer lawyer designer developer chef artist writer counselor
holiday: christmas easter thanksgiving halloween carnival
relationship: married single divorced dating engaged
language: english spanish portuguese french german italian japanese chinese python java javascript typescript golang rust ruby kotlin swift scala elixir haskell php perl
database: postgres postgresql mysql mariadb sqlite mongodb redis cassandra dynamodb oracle clickhouse duckdb
editor: vscode vim neovim emacs intellij sublime pycharm
framework: django flask fastapi react vue angular svelte rails spring express nextjs laravel
cloud: aws azure gcp heroku digitalocean cloudflare
ci: jenkins github gitlab circleci travis buildkite
queue: kafka rabbitmq sqs celery nats
os: linux macos windows ubuntu debian fedora
shell: bash zsh fish powershell
linter: ruff eslint flake8 pylint golangci
formatter: black prettier gofmt
bundler: webpack vite esbuild rollup
container: docker podman kubernetes
browser: chrome firefox safari edge
port: 80 443 3000 5432 8000 8080
"""

_PAIRS = """
cidade city
pais country
trabalho work job
emprego job
empresa company
casa house home
familia family
filho son child
filha daughter child
irmao brother
irma sister
mae mother
pai father
esposa wife
marido husband
amigo friend
cachorro dog
gato cat
carro car
livro book
filme movie
musica music
comida food
viagem trip
ferias vacation
aniversario birthday
escola school
faculdade university
medico doctor
saude health
dinheiro money
reuniao meeting
equipe team
projeto project
prazo deadline
tarefa task
decisao decision
decidimos decided
decidir decide
preferencia preference
prefere prefers
gosta likes
senha password
chave key
servidor server
banco database
dados data
tabela table
consulta query
arquivo file
pasta folder
codigo code
linguagem language
versao version
teste test
erro error
falha failure
implantacao deployment
implantar deploy
publicar publish
ambiente environment
producao production
desenvolvimento development
configuracao configuration
biblioteca library
dependencia dependency
funcao function
variavel variable
rede network
porta port
usuario user
cliente client customer
fila queue
pagamento payment
fatura invoice
conta account
seguranca security
permissao permission
desempenho performance
memoria memory
lembrete reminder
migracao migration
revisao review
ramo branch
editor editor
tela screen
botao button
pagina page
rota route
idioma language
telefone phone
endereco address
nome name
idade age
cor color
favorito favorite
preferido favorite
mudou moved changed
mora lives
vive lives
comprou bought
comprar buy
vender sell
comecou started
comecar start
terminou finished
"""


def _folded_rows(table: str) -> list[list[str]]:
    return [line.replace(":", " ").split() for line in table.strip().splitlines()]


@cache
def related_words() -> Mapping[str, Mapping[str, float]]:
    """For each folded word the folded words that may stand for it, with a weight between 0 and 1.

    Synonyms and translations work both ways; a kind leads to its members, a member does not lead to its kind's others.
    """
    related: dict[str, dict[str, float]] = {}

    def relate(word: str, other: str, weight: float) -> None:
        if word != other:
            known = related.setdefault(word, {})
            known[other] = max(known.get(other, 0.0), weight)

    for row in _folded_rows(_SYNONYMS):
        for word in row:
            for other in row:
                relate(word, other, SYNONYM)
    for kind, *members in _folded_rows(_KINDS):
        for member in members:
            relate(kind, member, MEMBER)
    for portuguese, *english in _folded_rows(_PAIRS):
        for word in english:
            relate(portuguese, word, TRANSLATION)
            relate(word, portuguese, TRANSLATION)
    return related


SYNONYM = 0.5
MEMBER = 0.4
TRANSLATION = 0.9
"""Weights against the word itself; measured in docs/ranking.md."""
