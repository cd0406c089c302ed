"""Irregular forms, words that mean nearly the same, kinds and their members, and Portuguese–English pairs.

General language, taken from no corpus; the kinds follow the categories that studies of word association ask for (gems,
metals, fabrics, utensils, parts of the body, sports, …) with the commonest answers.

A question names the kind ("which *database*", "what *pets*") where the answer names the member ("Postgres", "a *cat*").
Lexical ranking cannot bridge that by itself; these small tables do, at a weight well below the word itself. Only
everyday words and the trade's own vocabulary stand here; a word with several unrelated meanings is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from . import translations

_INFLECTIONS = """
be was were been
go went gone goes
do did done
have had has
say said
tell told
make made
take took taken
give gave given
get got gotten
come came
see saw seen
know knew known
think thought
find found
feel felt
leave left
keep kept
lose lost
meet met
pay paid
buy bought
sell sold
send sent
spend spent
bring brought
teach taught
catch caught
fight fought
build built
sleep slept
eat ate eaten
drink drank drunk
drive drove driven
ride rode ridden
fly flew flown
run ran
swim swam swum
sing sang sung
write wrote written
speak spoke spoken
break broke broken
choose chose chosen
wear wore worn
grow grew grown
draw drew drawn
throw threw thrown
begin began begun
win won
hold held
lead led
stand stood
understand understood
forget forgot forgotten
fall fell fallen
steal stole stolen
wake woke woken
rise rose risen
sit sat
shoot shot
hide hid hidden
freeze froze frozen
become became
hear heard
lend lent
die died
lie lay
child children
person people
man men
woman women
wife wives
life lives
tooth teeth
foot feet
mouse mice
knife knives
half halves
good better best
bad worse worst
index indices indexes
ir fui foi fomos foram vou vai
ter tive teve tinha tenho
fazer fiz fez fizemos fizeram faz
dizer disse dissemos disseram diz
vir vim veio viemos vieram
ver vi viu vimos viram
poder pude pode pudemos
querer quis quer queria
saber soube sabe sei
trazer trouxe traz
por pus pos
dar dei deu demos
estar esteve estava
decidir decisao decidimos decidiu
"""

_SYNONYMS = """
child kid son daughter toddler
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
buy purchase
begin start commence
finish end complete
quit resign leave
trip travel vacation journey visit tour getaway holiday
hike trek
house home apartment flat
move relocate
city town
country nation
movie film documentary
show series sitcom
book novel reading
author writer
song track tune
music band concert
picture photo photograph image pic
painting art artwork
draw drawing sketch
hobby pastime interest leisure
exercise workout gym fitness training
sick ill illness disease
injury injure injured hurt
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
love enjoy like
hate dislike
think believe opinion
idea plan
goal aim objective target
problem issue trouble difficulty
solution fix
help assist support aid
teach teacher instructor tutor
learn study
school university college education degree
exam test quiz
class course lesson workshop
car vehicle
bike bicycle
road highway street
restaurant diner cafe
meal dinner lunch breakfast
food dish cuisine recipe
cook bake
dessert sweet cake
drink beverage
grocery groceries supermarket
roommate flatmate housemate
hometown birthplace
divorce separated
dog puppy pup
cat kitten kitty
gift present
party celebration
marry wedding
birth born birthday
die death
win victory
contest competition tournament
award prize trophy
money cash fund
cheap inexpensive
big large huge
small little tiny
fast quick rapid
often frequently
near close nearby
meet meeting
event festival ceremony
volunteer charity donate fundraiser
church faith religion religious spiritual
identity gender
politics political
phone mobile cellphone
laptop computer
website site
keep retain retention store
valid expire expiry
attend participate join
recommend suggest advise advice tip
receive get
obstacle challenge setback struggle difficulty hurdle
reside live dwell
live move relocate
childhood upbringing
age old
injury wound
script screenplay
poem poetry
concert gig
dance dancing ballet
creative creativity art
nervous anxious worried anxiety
proud pride
thankful grateful gratitude
calm peaceful serene
fun enjoyable exciting
interest passion passionate keen
talent skill ability
skill expertise
success achievement accomplishment
fail failure reject rejection
encourage motivate inspire inspiration motivation
sneakers shoes
necklace jewelry ring bracelet
plant garden gardening flower
forest woods
sea ocean
beach coast shore
hill mountain
stroll walk
jog run
diet nutrition
weight fat
allergic allergy
pregnant pregnancy baby
retire retirement
immigrate emigrate immigrant
military army veteran
police officer
attorney lawyer
nation homeland
adopt adoption foster
homeless shelter
community neighborhood neighbourhood
colour color
theatre theater
organise organize
apologize sorry
surprise shock
argue argument fight quarrel
secret confidential
rent lease
loan debt mortgage
discount sale coupon
souvenir keepsake memento
mentor coach coaching
student pupil
scholarship grant
internship intern
promotion promoted
interview hiring recruiter
customer client
market marketing advertise advertising
sponsor sponsorship endorsement endorse
brand label
collect collection
decorate decoration decor
repair mend fix
replace substitute swap
migrate migration
upgrade update
rename renaming
rollback revert undo
slow slowness lag
memory ram
disk storage
network connectivity
encrypt encryption
certificate cert tls ssl
request req
response reply answer
endpoint route
schema model
column field
schedule cron timetable
retry backoff
timeout deadline
feature flag
metric measurement
alert alarm
meeting call standup
bug defect error fault
crash failure outage incident
deploy deployment release rollout ship
delete remove erase drop
create make
change modify update edit
choose pick select decide decision
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
csharp c#
cpp c++
postgres postgresql
log logging
monitor monitoring observability
speed performance latency
test testing
branch merge
commit push
ticket task card
deadline due
prod production
dev development
perf performance
infra infrastructure
admin administrator
spec specification
price cost fee amount
toggle flag switch
ranking leaderboard scoreboard
forbid forbidden ban banned prohibit prohibited disallow
maximum max cap limit
minimum min
downtime maintenance outage
relaunch rerun rerunning
soundtrack music audio sound
machine host node server computer desktop workstation
vm virtual hypervisor
editor ide
secret vault
hostname host
translate translation locale language i18n
flaky intermittent unstable
deprecated obsolete
mandatory required obligatory compulsory
maintainer owner responsible
oncall pager
approval approve
absence away holiday vacation
tester qa playtest
speed pace
review approve
"""

_KINDS = """
pet: dog cat puppy kitten hamster rabbit parrot turtle goldfish lizard snake guinea
animal: dog cat horse bird turtle rabbit cow sheep goat pig elephant lion tiger bear wolf fox deer whale dolphin
instrument: guitar piano violin cello drums flute clarinet saxophone trumpet ukulele keyboard bass
sport: football soccer basketball tennis baseball volleyball hockey golf rugby swimming surfing skiing snowboarding
  cricket boxing cycling running
martial: karate judo taekwondo kickboxing jiujitsu aikido kungfu
exercise: kickboxing crossfit taekwondo run swim stretching marathon strength aerobics yoga running swimming cycling
  weights pilates jogging boxing cardio squats hiking
hobby: drawing collecting surfing blogging crafts origami puzzles baking painting gardening photography cooking
  knitting pottery hiking fishing gaming chess dancing writing reading sewing woodworking
activity: pottery volunteering shopping bowling skating biking workshop hike camp swim paint dance hiking camping
  swimming painting dancing fishing cycling picnic kayaking skiing running yoga museum
outdoor: hiking camping fishing kayaking climbing cycling picnic skiing surfing
art: sculpting watercolor portrait abstract calligraphy collage painting sculpture drawing pottery ceramics
  photography sketch mural canvas
game: chess poker puzzle videogame console xbox playstation nintendo
country: england wales russia ukraine israel iran iraq nepal indonesia malaysia philippines singapore iceland
  hungary romania croatia chile peru colombia cuba jamaica nigeria ethiopia ghana uk usa america britain spain
  portugal france germany italy ireland scotland greece sweden norway denmark finland poland austria switzerland
  netherlands belgium brazil argentina mexico canada japan china india korea thailand vietnam australia egypt turkey
  morocco kenya
european: england wales uk britain iceland hungary romania croatia ukraine spain portugal france germany italy
  ireland scotland greece sweden norway denmark finland poland austria switzerland netherlands belgium
city: moscow istanbul athens budapest warsaw stockholm oslo copenhagen helsinki edinburgh manchester milan venice
  florence naples zurich geneva brussels shanghai mumbai delhi bangkok singapore dubai cairo melbourne auckland
  montreal detroit phoenix philadelphia atlanta orleans vegas nashville portland baltimore minneapolis orlando tampa
  honolulu bali paris london rome madrid barcelona lisbon porto berlin munich vienna amsterdam dublin prague tokyo
  seoul beijing sydney toronto vancouver seattle chicago boston miami dallas houston denver austin york angeles
  francisco recife
state: california texas florida oregon washington colorado michigan ohio georgia arizona nevada alaska minnesota
  indiana
nature: forest mountain lake river beach ocean waterfall park trail sunset
weather: rain sunny snow storm wind cloudy
season: summer winter spring autumn
family: mother father brother sister son daughter wife husband mom dad grandmother grandfather aunt uncle cousin
food: sandwich noodles beef pork fish shrimp lasagna omelette pizza pasta sushi salad soup rice chicken bread cheese
  burger taco curry steak
dessert: sorbet tart cheesecake mousse cake cookie pie brownie chocolate pudding cupcake muffin
recipe: cake soup pasta chicken cookies bread salad sauce
drink: coffee tea beer wine juice water soda
fruit: apple banana orange strawberry mango grape lemon peach pear
vegetable: carrot tomato potato onion spinach broccoli pepper
color: red blue green yellow purple pink black white orange brown
emotion: scared lonely nervous frustrated disappointed relieved angry joy sadness anger happy sad afraid anxious
  excited proud grateful
illness: covid infection virus pneumonia arthritis depression gastritis cold flu fever cancer asthma diabetes
  allergy migraine
allergy: peanut dairy gluten pollen shellfish lactose
vehicle: car truck motorcycle bike bus van
furniture: chair table couch sofa desk bed
clothes: sneakers boots coat scarf socks skirt hoodie shirt dress shoes jacket jeans hat sweater
subject: math physics chemistry biology history literature
degree: bachelor master phd diploma
profession: programmer accountant plumber electrician mechanic pilot journalist photographer musician actor
  scientist professor manager cashier barista waiter therapist psychologist teacher nurse doctor engineer lawyer
  designer developer chef artist writer counselor
device: phone laptop tablet camera headphones printer router
furry: dog cat rabbit hamster
reptile: snake lizard turtle gecko
bird: parrot eagle owl pigeon
flower: rose tulip sunflower daisy lily orchid
tree: oak pine maple palm
genre: fantasy scifi mystery romance thriller horror comedy drama jazz rock pop classical
trait: kind caring thoughtful honest brave generous patient creative hardworking supportive empathetic
charity: shelter fundraiser donation homeless veterans
disaster: flood earthquake fire hurricane tornado
jewelry: necklace ring bracelet earrings
room: kitchen bedroom bathroom garage office
place: beach park museum restaurant cafe library gym church
vacation: beach cruise resort hotel camping
transport: car bus train plane bike subway ferry
payment: paypal stripe visa mastercard
social: twitter facebook instagram linkedin tiktok
license: mit apache gpl bsd
holiday: christmas easter thanksgiving halloween carnival
relationship: married single divorced dating engaged
language: english spanish portuguese french german italian japanese chinese python java javascript typescript golang
  rust ruby kotlin swift scala elixir haskell php perl
gem: diamond ruby emerald sapphire opal topaz amethyst pearl
metal: iron copper silver gold steel aluminum zinc titanium tin brass
fabric: cotton wool silk linen polyester denim leather velvet
utensil: knife fork spoon spatula whisk pan pot ladle
appliance: fridge refrigerator oven dishwasher microwave toaster blender washer dryer vacuum
tool: hammer screwdriver drill wrench pliers saw chisel
toy: doll lego blocks puzzle kite yoyo teddy
game: rpg mmorpg boardgame minecraft fortnite zelda pokemon monopoly scrabble checkers backgammon solitaire cards
  arcade multiplayer
body: knee ankle wrist shoulder elbow hip neck toe finger leg foot stomach chest
injury: sprain sprained twisted fracture fractured broken broke bruise bruised concussion torn wounded sore crutches
injured: sprain sprained twisted fracture fractured broken broke bruise bruised concussion torn hurt sore
symptom: headache fever nausea cough dizziness fatigue rash cramps stomachache backache insomnia
pain: headache stomachache backache toothache migraine sore ache cramps
digestive: stomach stomachache gastritis nausea indigestion heartburn bowel
pet: pup pups kitty bunny gerbil ferret budgie tortoise
animal: mouse squirrel raccoon frog camel donkey giraffe zebra monkey gorilla kangaroo panda penguin
insect: bee ant wasp butterfly mosquito spider beetle dragonfly moth
fish: salmon tuna trout cod sardine goldfish shark
bird: sparrow robin crow hawk hummingbird duck goose swan seagull cardinal
sport: archery badminton wrestling gymnastics fencing rowing sailing softball lacrosse climbing marathon triathlon
  skating snowboarding karate
dance: ballet salsa tango waltz hiphop samba ballroom flamenco
dessert: cobbler gelato tiramisu brownies donut custard crumble parfait fudge sundae macarons
snack: chips popcorn crackers nuts pretzels cookies granola
alcohol: beer wine whiskey vodka rum gin tequila cocktail champagne
drink: smoothie lemonade cocktail milk milkshake kombucha
seasoning: salt pepper cinnamon garlic oregano basil paprika cumin
breakfast: pancakes eggs oatmeal cereal toast waffles granola
meal: brunch barbecue supper
food: stir fry noodle dumplings ramen burrito quiche risotto stew tofu seafood
fuel: gasoline diesel coal petrol
crime: theft robbery murder burglary fraud assault
weapon: gun knife sword rifle
building: house church school tower castle cathedral skyscraper library
dwelling: house apartment condo cabin tent hut cottage
landmark: castle tower bridge cathedral temple statue palace
nature: hike canyon valley cliff creek island meadow stars sky mountains
weather: hail fog sleet thunder heat humid drought
science: chemistry biology physics astronomy geology psychology botany
music: jazz rock pop classical rap country blues reggae metal folk opera
instrument: harp viola trombone banjo accordion tuba harmonica synthesizer
reading: novel magazine newspaper comic biography memoir
book: memoir biography trilogy fantasy thriller fiction nonfiction
genre: biography memoir documentary action western anime animation romcom nonfiction
vehicle: suv van scooter tractor minivan pickup sedan hatchback toyota honda ford tesla bmw
ship: boat yacht sailboat canoe kayak ferry cruise
footwear: boots sandals sneakers slippers heels
clothes: pants shorts blouse suit tie gloves pajamas uniform swimsuit
relative: mother father brother sister aunt uncle cousin grandmother grandfather nephew niece
family: nephew niece grandma grandpa grandparents kids stepmother
profession: firefighter pharmacist veterinarian dentist architect editor translator electrician librarian carpenter
  bartender paramedic farmer
relax: yoga meditation meditate bath massage spa soothing unwind
surgery: operation transplant appendectomy
subscription: netflix spotify hulu disney youtube magazine
streaming: netflix spotify hulu disney twitch youtube
store: supermarket target walmart ikea costco grocery bakery
bank: chase wells citibank santander nubank
airline: delta united lufthansa ryanair emirates latam
hotel: hostel resort airbnb motel inn
currency: dollar euro pound yen real peso
religion: christian muslim jewish buddhist hindu catholic
religious: church mosque temple synagogue prayer bible
military: army navy marines airforce deployed
gift: flowers book necklace perfume voucher
camera: canon nikon sony lens dslr
phone: iphone samsung pixel android
laptop: macbook thinkpad chromebook
console: playstation xbox nintendo switch
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


def _rows(table: str) -> list[list[str]]:
    """The rows of a table as words; an indented line continues the one before."""
    return [row.replace(":", " ").split() for row in table.strip().replace("\n  ", " ").splitlines()]


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

    for row in _rows(_INFLECTIONS):
        for word in row:
            for other in row:
                relate(word, other, INFLECTION)
    for row in _rows(_SYNONYMS):
        for word in row:
            for other in row:
                relate(word, other, SYNONYM)
    for kind, *members in _rows(_KINDS):
        for member in members:
            relate(kind, member, MEMBER)
    for portuguese, *english in _rows(translations.PAIRS):
        for word in english:
            relate(portuguese, word, TRANSLATION)
            relate(word, portuguese, TRANSLATION)
    return related


@cache
def portuguese_words() -> frozenset[str]:
    """The folded Portuguese words that have a translation here."""
    return frozenset(portuguese for portuguese, *_ in _rows(translations.PAIRS))


INFLECTION = 1.0
SYNONYM = 0.5
MEMBER = 0.4
TRANSLATION = 0.9
"""Weights against the word itself; measured in docs/ranking.md."""
