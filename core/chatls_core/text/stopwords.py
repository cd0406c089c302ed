"""Words that carry no topic, in English and Portuguese, already folded (lower case, no accents).

They are dropped from *questions* only: a passage keeps every word, so that no index has to be rebuilt when a list
changes, and a question made of nothing else finds nothing (spec/memory.md §8.1, §15.2).
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """
    a about above after again against ain all also although am an and any are aren as at be because been before
    being below between both but by can cannot could couldn did didn do does doesn doing don done down during
    each either else ever every few for from further get gets getting go goes going gone got had hadn has hasn
    have haven having he her here hers herself him himself his how however i if in into is isn it its itself
    just let ll me might mightn more most mustn my myself needn neither no nor not now of off oh ok okay on once
    only onto or other others our ours ourselves out over own per please quite rather re really same shall shan
    she should shouldn since so some still such than thank thanks that the their theirs them themselves then
    there these they this those though through thus to too toward towards under until unless up upon us ve very
    via was wasn we were weren what whatever when whenever where wherever whether which whichever while who
    whoever whom whose why will with within without won would wouldn yes yet you your yours yourself yourselves
    """
)

PORTUGUESE = _words(
    """
    a ao aos aquela aquelas aquele aqueles aquilo as ate cada com como contra cuja cujas cujo cujos da das de
    dela delas dele deles depois desde dessa dessas desse desses desta destas deste destes disso disto do dos e
    ela elas ele eles em entao entre era eram essa essas esse esses esta estao estas estava estavam este estes
    estou eu foi fomos for foram ha houve isso isto ja la lhe lhes lo mais mas me mesma mesmas mesmo mesmos meu
    meus minha minhas muito muita muitos muitas na nas nao nem nessa nessas nesse nesses nesta nestas neste
    nestes no nos nossa nossas nosso nossos num numa o obrigado obrigada ok onde os ou para pela pelas pelo
    pelos per por porque porem pra pro qual quais qualquer quando quanta quantas quanto quantos que quem se seja
    sejam sem sempre ser sera serao seria seriam seu seus sim so sob sobre somos sou sua suas tal tambem te tem
    tenho ter teu teus teve tinha tinham tive tiveram toda todas todo todos tu tua tuas tudo um uma umas uns vai
    vao voce voces vos
    """
)

WEAK = _words(
    """
    tell told remind remember recall know mention mentioned said say says describe discuss discussed talk talked
    conversation conversations chat planned use used using type kind sort name way number amount thing things
    stuff lot time times day year specific particular certain some many much recent recently previous last first
    next new different lembra lembre lembrar recorda falou falamos disse dissemos discutimos discutiu
    conversamos conversa mencionou mencionei sabe diga conte tipo nome jeito vez vezes coisa coisas numero dia
    ano novo nova ultimo ultima usa usar
    """
)
"""Words that frame a question rather than name its topic; they count for less than the others."""

REQUESTS = _words(
    """
    run running test code file function class method list text use using user add fix bug error issue make write create
    change update rename explain show find help work live go need want build line name number data value type start
    stop new project app check look see read get set put call open close move remove delete return print implement
    refactor improve review question answer thing way example please sure problem branch commit git script page button
    column row user users script repo repository pull push merge file folder module package variable
    rodar teste codigo arquivo funcao classe metodo lista texto usar usuario adicionar corrigir erro fazer escrever
    criar mudar explicar mostrar achar ajudar trabalhar viver morar precisar querer nome numero dado valor tipo
    novo projeto ler abrir fechar mover remover melhorar revisar pergunta resposta coisa exemplo favor problema gerar
    traduzir instalar executar refatorar desfazer resumir pagina botao coluna linha modulo pacote variavel usuarios
    """
)
"""Words of nearly every request to a coding assistant: alone they match anything."""

ASKING = _words(
    """
    what which who whose where when how why is are do does did can should
    quem qual quais onde quando como quanto quantos quanta quantas que
    """
)
"""First words of a question that is written without its mark."""

EVIDENCE_ENGLISH = _words(
    """
    the and is are was were of to in that it this with for you have has had not but what which when where who
    how why did does do can will would should from they there we he she his her my your our about been if
    """
)
EVIDENCE_PORTUGUESE = _words(
    """
    que nao não uma um para com os do da dos das em na nas nos se por mais mas foi ele ela eu voce você isso
    esta está estao estão sao são tem ser quando como qual onde quem meu minha seu sua ao aos pelo pela ja já
    muito tambem também o e é à ontem hoje amanha amanhã fazer usa
    """
)
"""Function words that tell a text's language, with and without accents; what both languages share is in neither."""

TIMES = _words(
    """
    yesterday today tonight tomorrow last next ago week weeks weekend month months year years since recently
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december ontem anteontem hoje amanha semana semanas mes meses ano anos passado
    passada desde janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
    """
)
"""Folded words of passages that tell when."""

NUMBERS = _words(
    """
    one two three four five six seven eight nine ten couple few several first second third once twice um uma
    dois duas tres quatro cinco seis sete oito nove dez primeiro primeira segundo segunda
    """
)
"""Folded words of passages that tell how many."""
