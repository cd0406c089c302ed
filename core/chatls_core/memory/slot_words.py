"""Words by which an update is told from a rephrasing, in English and Portuguese, folded (spec/memory.md §18.1 1-5)."""

from __future__ import annotations

import re

from chatls_core.memory.wordlists import word_pairs, word_set, word_table
from chatls_core.text import stopwords

NUMBERS = word_pairs(
    """
    zero:0 one:1 um:1 uma:1 two:2 dois:2 duas:2 three:3 tres:3 four:4 quatro:4 five:5 cinco:5 six:6 seis:6 seven:7
    sete:7 eight:8 oito:8 nine:9 nove:9 ten:10 dez:10 eleven:11 onze:11 twelve:12 doze:12
    """
)

NEGATIONS = word_set("not no never without nao nunca jamais sem nem nenhum nenhuma neither nor cannot")

OPPOSITES = word_pairs(
    """
    dislikes:likes dislike:like hates:likes hate:like detests:likes avoids:uses avoid:use disabled:enabled
    disable:enable disables:enables forbidden:allowed forbids:allows forbid:allow disallowed:allowed
    excludes:includes exclude:include excluded:included odeia:gosta detesta:gosta evita:usa desativado:ativado
    desativada:ativada desativados:ativados desativadas:ativadas proibidos:permitidos proibidas:permitidas
    proibido:permitido proibida:permitida unavailable:available disagrees:agrees
    desligado:ligado desligada:ligada desligados:ligados desligadas:ligadas
    optional:required off:on private:public inactive:active closed:open broken:working
    """
)
"""A word that says the contrary of another: it counts as that word with a negation."""

PORTUGUESE = word_set(
    """
    o os um uma da das dos em na nos nas de que nao com por ao aos pelo pela sao esta estao fica ficam tem foi sera
    usuario usuaria projeto equipe roda rodam usa usam mora vive trabalha prefere gosta nosso nossa agora mais
    """
)
"""Words that tell Portuguese, where "no" means "in the"."""

SPELLINGS = word_pairs("favourite:favorite colour:color licence:license centre:center gray:grey people:members")
"""British words in American spelling, and people as members of what they make up."""

IN_ENGLISH = word_pairs(
    """
    usuario:user usuaria:user pedido:order pedidos:orders empresa:employer aspas-simples:single-quotes
    aspas-duplas:double-quotes nome:name versao:version porta:port prazo:deadline dono:owner dona:owner lider:leader
    gestor:manager gestora:manager pessoas:members membros:members integrantes:members
    gerente:manager chefe:boss linguagem:language regiao:region limite:limit tamanho:size orcamento:budget tema:theme
    formato:format padrao:default endereco:address telefone:phone aniversario:birthday cidade:city fuso:timezone
    salario:salary reuniao:meeting servidor:server dominio:domain caminho:path pasta:folder prioridade:priority
    cor:color provedor:provider modelo:model plano:plan preco:price licenca:license idade:age altura:height peso:weight
    projeto:project equipe:team repositorio:repository aplicacao:application usa:uses usam:use usamos:use roda:runs
    rodam:run mora:lives vive:lives trabalha:works prefere:prefers gosta:likes expira:expires dura:lasts escuta:listens
    servico:service escuro:dark claro:light espacos:spaces sessao:session tentativas:retries tentativa:retry
    resposta:answer respostas:answers curta:short curtas:short curto:short longa:long longas:long detalhadas:detailed
    conciso:concise concisas:concise futebol:football cafe:coffee cha:tea carro:car cachorro:dog gato:cat senha:password
    teste:test testes:tests cobertura:coverage pacote:package fila:queue escritorio:office documentacao:documentation
    cliente:client arquivo:file pagina:page casado:married casada:married solteiro:single solteira:single
    divorciado:divorced divorciada:divorced vegetariano:vegetarian vegetariana:vegetarian vegano:vegan vegana:vegan
    estagiario:intern estagiaria:intern diretor:director diretora:director coordenador:coordinator
    coordenadora:coordinator falha:fails falham:fail chaves:keys chave:key devolve:returns retorna:returns
    segundo:second segundos:seconds minuto:minute minutos:minutes hora:hour horas:hours dia:day dias:days semana:week
    semanas:weeks mes:month meses:months ano:year anos:years segunda:monday terca:tuesday quarta:wednesday
    quinta:thursday sexta:friday sabado:saturday domingo:sunday segundas:mondays tercas:tuesdays quartas:wednesdays
    quintas:thursdays sextas:fridays sabados:saturdays domingos:sundays janeiro:january fevereiro:february marco:march
    abril:april maio:may junho:june julho:july agosto:august setembro:september outubro:october novembro:november
    dezembro:december lisboa:lisbon londres:london berlim:berlin roma:rome madri:madrid viena:vienna praga:prague
    dados:data infraestrutura:infrastructure lancamento:release lancamentos:releases produto:product favorita:favorite
    favorito:favorite verde:green azul:blue vermelho:red vermelha:red amarelo:yellow amarela:yellow preto:black
    preta:black branco:white branca:white laranja:orange roxo:purple roxa:purple cinza:grey marrom:brown mae:mother
    pai:father irmao:brother irma:sister filho:son filha:daughter esposa:wife marido:husband permite:allows
    permitem:allow gratuito:free gratuita:free projetos:projects dorme:sleeps noite:night manha:morning semanal:weekly
    diario:daily mensal:monthly anual:yearly quinzenal:biweekly ingles:english portugues:portuguese espanhol:spanish
    frances:french alemao:german
    """
)
"""Words of a statement's frame in the other language: one who changes languages still means the same thing."""

PORTUGUESE |= IN_ENGLISH.keys()

ALIKE = word_pairs("brief:short terse:short concise:short verbose:long detailed:long nvim:neovim mongo:mongodb")
"""Members of a class that mean the same."""

PERSON = word_set(
    """
    user i my me mine myself users usuario usuaria eu meu minha meus minhas he she they his her their ele ela dele
    dela seu sua customer
    """
)
"""Words for the user; they name no other subject."""

GROUP = word_set(
    """
    we our us team project app application repo repository codebase service company nos nosso nossa equipe time
    projeto aplicacao repositorio
    """
)
"""Words for the work at hand; they name no particular one."""

FILLERS = word_set(
    """
    now currently today already still just really very also always actually anymore longer instead nowadays agora
    atualmente ja ainda sempre mais muito tambem hoje please the a an upgraded updated bumped downgraded raised
    increased reduced lowered upgrade update atualizou atualizamos atualizei atualizado aumentou aumentado reduziu
    """
)

UPDATE_MARKS = re.compile(
    r"\b(?:now|currently|nowadays|these days|as of|from now on|anymore|no longer|instead|switched|migrated|moved"
    r"|changed|upgraded|downgraded|renamed|replaced|transferred|became|updated|agora|atualmente|hoje em dia|a partir de"
    r"|nao .{0,30}\bmais|virou|foi para [oa] (?:equipe|squad)"
    r"|(?:deix|troc|migr|mud|pass|atualiz)(?:ou|ei|amos|aram)|substitu(?:iu|i|imos|iram))\b"
)
"""Signs that a text reports a change."""

PRESENT_MARKS = re.compile(
    r"\b(?:now|currently|nowadays|these days|as of|from now on|instead(?! of)|since|agora|atualmente|hoje em dia"
    r"|a partir de|desde)\b"
)
"""Signs that a text tells what holds at present, and perhaps did not before."""

ADDITIONS = re.compile(
    r"\b(?:also|too|as well|additionally|both|together with|along with|alongside|co-\w+|tambem|junto com|ao lado de"
    r"|alem d[aeo]|ambos|ambas)\b"
)
"""Signs that something holds besides something else."""

TENTATIVE = re.compile(
    r"\b(?:might|could|maybe|perhaps|possibly|considers?|considering|thinking (?:of|about)|thinks (?:of|about)"
    r"|plan(?:s|ning)? (?:to|on)|hop(?:es|ing) to|intends? to|would (?:like|love|prefer) to|wish(?:es)? to"
    r"|dreams? of|wants? to (?:be|become|get|go|move|switch|migrate|change|replace|leave|quit|join|buy|sell|learn"
    r"|live|work|stop)"
    r"|(?:will|going to|about to) (?:move|switch|migrate|change|replace|leave|quit|join|buy|sell|stop|take over|hand)"
    r"|talvez|quem sabe|pensa(?:ndo)? em|pensando n[oa]|cogita(?:ndo)?|pretende|planeja(?:ndo)?|gostaria de|sonha em"
    r"|tem vontade de|(?:quer|vai|vamos|ira) (?:mudar|trocar|migrar|sair|deixar|parar|comprar|vender|morar|trabalhar"
    r"|assumir|passar|substituir))\b"
)
"""Signs that something is only thought of, wished or to come."""

OWNING = word_set(
    """
    has have had own owns drive drives driving ride rides riding use uses tem possui dirige pilota usa anda named called
    chamado chamada chama
    """
)
"""Verbs that say no more of a thing than that somebody has it."""

MEANS = word_set("with by via through on at from com por pelo pela pelos pelas de")
"""Prepositions behind which stands how or by whom something is done."""

OFFICES = word_set(
    """
    owner lead leader manager boss cto ceo cfo coo vp head chief president captain treasurer coordinator supervisor
    mentor master chair director maintainer reviewer editor contact principal dean secretary
    """
)
"""Who holds them may change."""

TO_BE = word_set("is are e sao esta estao fica ficam")

ONE_BY_MEANS = word_set(
    """
    authenticates authenticate pays pay banks bank commutes commute travels travel shops syncs sync signs sleeps trains
    autentica autenticam paga pagam sincroniza viaja treina dorme
    """
)
"""What is done with, by or at one thing at a time."""

ONE_AT_A_TIME = word_set("drives drive rides ride wears wear chairs dirige pilota veste")
"""What is done to one thing at a time."""

RELATIONS = word_set(
    """
    rents rent leases aluga trains train attends attend treina frequenta study studies studying student works working
    employed employee engaged married dating estuda cursa aluno aluna trabalha empregado empregada namora noivo noiva
    casado casada
    """
)
"""What ends when somebody leaves a school, a firm, a flat or a person."""

OTHERS = word_set(
    """
    staging production test homologacao producao teste user usuario usuaria squad department client customer partner
    vendor supplier competitor neighbour neighbor friend branch class course school book tutorial article talk cliente
    parceiro fornecedor concorrente vizinho amigo filial turma curso escola livro palestra artigo
    """
)
"""Who has things of his own, and what only tells of them."""

DISTINGUISHING = word_set(
    """
    other another former previous ex outro outra outros outras anterior anteriores
    """
)
"""Words that set one thing apart from another of the same name."""

SIDES = word_pairs(
    """
    before:after above:below inside:outside more:less up:down first:last minimum:maximum antes:depois acima:abaixo
    dentro:fora mais:menos minimo:maximo
    """
)
"""Words of which one says the contrary of the other, though both are too common to carry a statement."""

UNITS = word_set(
    """
    ms second seconds minute minutes min hour hours day days week weeks month months year years byte bytes kb mb gb tb
    segundo segundos minuto minutos hora horas dia dias semana semanas mes meses ano anos
    """
)
"""Words behind a number that belong to it."""

CHANGE_VERBS = word_set(
    """
    switched switching migrated migrating moved moving changed upgraded downgraded went transitioned renamed converted
    replaced swapped stopped quit dropped abandoned removed deprecated cancelled left rose grew fell climbed shrank
    raised lowered increased decreased favour favor subiu caiu cresceu baixou aumentou diminuiu trocou trocamos migrou
    migramos mudou mudamos passou passamos substituiu substituimos deixou deixamos deixei parou paramos parei abandonou
    abandonamos abandonei removeu removemos removi cancelou cancelamos cancelei troquei migrei mudei passei mais
    """
)
"""Verbs that only say that something changed."""

PAIR = re.compile(
    r"(?P<chosen>.+?)\s*(?:,|\band\b|\bbut\b|\be\b|\bmas\b|;)?\s*(?:"
    r"\bover\b|\brather than\b|\binstead of\b|\bin place of\b|\bas opposed to\b|\bem vez de\b|\bao inves de\b"
    r"|\bno lugar de\b|\bdo que\b|(?:(?<=,)|(?<=, )|(?<=\band )|(?<=\bbut )|(?<=\be )|(?<=\bmas ))"
    r"(?:not|never|nao|nunca)\b(?: with| com)?"
    r")\s*(?P<rejected>[^,;.]+)"
)
"""Something chosen and something turned down: ``tabs over spaces``, ``Postgres, not MySQL``."""

PREFERENCE = re.compile(
    r"\b(?:prefers? (?P<chosen>(?!to |that )[\w-]+(?: [\w-]+)?) to (?P<rejected>(?!an? |the )[\w-]+)(?: now)?$)"
)
"""``prefers coffee to tea``."""

_ENGLISH_VERBS = word_set(
    """
    is are was were be has have had use uses used using run runs ran live lives work works prefer prefers like likes
    need needs require requires deploy deploys take takes cost costs last lasts expire expires listen listens return
    returns support supports contain contains start starts end ends ship ships want wants own owns store stores depend
    depends target targets allow allows limit limits set write writes read reads call calls keep keeps get gets pay pays
    earn earns spend spends charge charges hold holds cover covers subscribe subscribes sleep sleeps
    retry retries indent indents host hosts
    """
)
VERBS = _ENGLISH_VERBS | word_set(
    """
    e sao tem usa usam utiliza roda mora vive trabalha prefere gosta precisa custa dura expira suporta contem fica
    esta estao quer exige paga pagam ganha gasta cobra leva cobre assina expiram rodam usamos
    permite permitem dorme dormem
    """
)

MULTIPLE = word_set(
    """
    speak speaks know knows accept accepts read reads parse parses import imports export exports aceita le importa
    exporta like likes love loves enjoy enjoys learn learns learning learned study studies visited
    visit has have own owns contain contains include includes support supports interested allergic plays play fala
    aprendendo estudando
    completed finished shipped deployed fixed released attended met wrote created implemented added concluiu finalizou
    ran rode walked swam drove flew watched read bought sold paid sent ate cooked visited travelled traveled went gave
    fails fail crashes crash breaks passes pass tested available falha falham quebra passa funciona disponivel
    corrigiu lancou criou implementou adicionou participou conhece gosta ama estuda aprende visitou tem possui contem
    inclui suporta interesse alergico joga
    """
)
"""Words that go with many values at a time, and events: a second language does not end the first."""

DIRECTED = word_set(
    """
    calls call depends depend imports import before after than from to into manages reports blocks owns replaces
    sends reads writes beats extends inherits wraps follows precedes parent child chama depende antes depois gerencia
    envia herda
    """
)
"""Words whose two sides may not be exchanged."""

MONTHS = word_set(
    """
    january february march april may june july august september october november december janeiro fevereiro marco
    abril maio junho julho agosto setembro outubro novembro dezembro jan feb mar apr jun jul aug sep oct nov dec
    """
)

ATTRIBUTES = word_set(
    """
    name version port url uri branch deadline owner lead leader manager boss database db editor ide framework language
    region limit timeout size budget status theme format convention default address email phone birthday capital city
    timezone title role salary date day time meeting standup release host hostname domain path directory folder
    username account id key priority color colour provider model plan price rate frequency schedule currency license
    licence maintainer reviewer contact backend frontend runtime registry bucket cluster environment os shell terminal
    formatter linter indentation style target endpoint capacity quota threshold ttl interval retention age height
    weight employer company favorite favourite hobby nationality partner wife husband dog cat pet car password sprint
    milestone goal estimate cost length width count number level severity encoding charset protocol nome versao porta
    gestor gestora
    ramo prazo dono lider gerente chefe banco linguagem regiao limite tamanho orcamento tema formato padrao
    endereco telefone aniversario cidade fuso cargo salario data dia hora reuniao servidor dominio caminho
    laptop notebook computer keyboard monitor printer router camera bike watch intern assistant computador
    teclado celular impressora camara relogio bicicleta estagiario estagiaria assistente
    carro cliente fornecedor parceiro marido esposa advogado medico dentista professor escola faculdade universidade
    biblioteca navegador formatador orientador supplier vendor client doctor dentist lawyer teacher school university
    vp cto ceo cfo head chief president captain treasurer coordinator supervisor mentor gateway orm launch demo exam
    wedding trip event conference lancamento entrega prova viagem evento casamento demonstracao
    pasta prioridade cor provedor modelo plano preco licenca idade altura peso empresa
    """
)
"""Nouns with one value at a time."""

NO_PLACE = word_set(
    """
    a an the night home work office noon midnight dawn dusk least scale once school day days desk two three four five
    six hours speed peace pairs front um uma casa noite manha tarde escritorio dia equipe time horas duas
    """
)
"""What may follow "works at", "lives in" and is neither an employer nor a place to live."""

NEUTRAL = ATTRIBUTES | word_set("mode tool tools modo ferramenta main default principal padrao with as mainly machine")
"""Words beside a value that do not narrow what it is a value of."""

CLASSES = word_table(
    """
    indentation: tabs tab spaces space espacos espaco tabulacoes
    theme: dark light escuro claro
    editor: vim neovim nvim emacs vscode vs-code helix zed sublime intellij pycharm webstorm goland nano
    js-packages: npm pnpm yarn bun
    py-packages: poetry pipenv uv pdm conda hatch pip
    database: postgres postgresql mysql mariadb sqlite oracle mssql cockroachdb mongodb mongo dynamodb
    shell: bash zsh fish powershell nushell
    os: linux macos mac windows ubuntu debian fedora arch nixos
    browser: firefox chrome safari brave edge
    py-tests: pytest unittest nose
    js-tests: jest vitest mocha jasmine
    e2e-tests: cypress playwright selenium puppeteer
    bundler: webpack vite rollup parcel esbuild turbopack
    ci: jenkins circleci travis github-actions gitlab-ci drone buildkite
    forge: github gitlab bitbucket gitea codeberg
    cloud: aws gcp azure heroku vercel netlify render digitalocean fly.io hetzner
    orchestrator: kubernetes nomad swarm ecs
    frontend: react vue svelte angular solid
    py-web: django flask fastapi starlette
    state: redux zustand mobx recoil
    css: tailwind bootstrap bulma sass
    formatter: black ruff yapf prettier biome
    verbosity: concise short brief terse detailed verbose long conciso concisas curtas detalhadas longas
    formality: formal informal casual
    units: metric imperial celsius fahrenheit
    branching: rebase merge squash
    quotes: single-quotes double-quotes aspas-simples aspas-duplas
    data-format: json xml yaml csv toml html protobuf msgpack avro
    naming: snake_case camelcase kebab-case pascalcase
    marital: married single divorced engaged widowed casado solteiro divorciado noivo casada solteira divorciada viuvo
    diet: vegan vegetarian omnivore pescatarian vegano vegetariano vegana vegetariana
    """
)
"""Things of which one is used or preferred at a time."""

CLASS_LABELS = word_table(
    """
    editor: editor ide
    database: database db
    shell: shell
    os: os
    browser: browser navegador
    theme: theme tema
    ci: ci
    cloud: cloud
    formatter: formatter formatador
    indentation: indentation
    """
)
"""What a thing of a class is called: "my editor is Vim" says the same as "I use Vim"."""

CLASS_OF = {word: name for name, members in CLASSES.items() for word in members}

KINDS = word_table(
    """
    weekday: monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays
    weekday: sunday sundays segunda segundas terca tercas quarta quartas quinta quintas sexta sextas sabado domingo
    month: january february march april june july august september october november december janeiro fevereiro abril
    month: maio junho julho agosto setembro outubro novembro dezembro
    colour: red green blue yellow orange purple pink black white grey gray brown vermelho verde azul amarelo laranja
    colour: roxo rosa preto branco cinza marrom
    language: english portuguese spanish french german italian japanese chinese korean russian dutch polish ingles
    language: portugues espanhol frances alemao italiano japones chines coreano russo
    rhythm: daily weekly biweekly monthly quarterly yearly hourly nightly diario semanal mensal trimestral anual
    manner: manually automatically manual automatic automated manualmente automaticamente
    part-of-day: morning mornings afternoon afternoons evening evenings night manha tarde noite
    """
)
"""Values of one kind: in two statements of otherwise the same words, one takes the place of the other."""

KIND_OF = {word: name for name, members in KINDS.items() for word in members} | CLASS_OF

NOUN_LIKE = word_set(
    "use run live work need take cost start end ship want store target limit set write read call get keep"
)
"""Verbs that are nouns as well: "write 17" is the seventeenth write, "need 4 GB" needs four."""

BEFORE_VALUES = word_set(
    """
    is are was were has have had = equals at after before to by of on within every under over about than for in around
    roughly only least most from until per takes costs lasts weighs e sao tem em de a as aos pelas ate cada para por
    custa
    dura leva apos
    """
)
"""Words behind which a number is a value."""

NUMBERED = (
    word_set(
        """
        port day dia version release timeout limit budget size deadline age ttl retention capacity quota threshold
        interval
        price cost rate salary weight height length width porta versao limite tamanho prazo idade preco
        python node nodejs java ruby php go golang rust typescript react angular vue django rails kotlin swift dotnet
        terraform kubernetes ubuntu debian fedora windows android ios
        """
    )
    | MONTHS
    | frozenset(word for members in CLASSES.values() for word in members)
)
"""Words whose number is a value: a port, a version. Behind any other noun a number is a name ("ticket 7")."""

LABELS = word_set(
    """
    fact facts note notes item items entry entries thing things message messages test tests memory remember number id
    seq sequence index serial key value values record records line row example case step task ticket issue chapter page
    fato nota item coisa mensagem teste numero chave valor registro linha exemplo passo tarefa capitulo pagina
    """
)
"""Words whose number is never a value, not even behind a colon."""

ENGLISH_ONLY = (stopwords.ENGLISH | _ENGLISH_VERBS) - stopwords.PORTUGUESE - {"deploy", "deploys"}
PORTUGUESE_ONLY = stopwords.PORTUGUESE - stopwords.ENGLISH - {"de", "da", "do", "das", "dos", "e"}
"""Function words of one language: in a sentence of the other they are names, unless they are parts of names."""
