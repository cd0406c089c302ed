"""How ordinary is a word? Of two texts that share "page" nothing follows; of two that share "papaya" much does.

Everyday words of English and Portuguese, and the everyday words of software, written down from general knowledge of the
languages; no corpus was mined for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from . import stopwords, thesaurus, tokenizer

REQUEST = 0.2
"""Worth of a word that stands in nearly every request to an assistant, …"""
EVERYDAY = 0.25
"""… of an everyday word, …"""
SOFTWARE = 0.5
"""… of a word that everybody who writes software uses, …"""
OTHER = 1.0
"""… of any other word, …"""
IDENTIFIER = 1.3
"""… and of one that is no word of a language: ``main.go``, ``pay_refund``, ``SepaBatchTest2``."""
_SHORT_NUMBER, _LONG_NUMBER = 0.3, 0.6
_INHERITED = 0.9
"""A form of an everyday word is one as well, ``kept`` as ``keep``."""
_MARKED = re.compile(r"[\d._/@-]")
_COMPARISON = re.compile(r"(?<=..)(?P<double>[bdgmnt])?(?P<y>i)?(?:er|est|r|st)$")


@lru_cache(maxsize=65536)
def specificity(folded: str) -> float:
    """How much follows from a folded word that two texts share, between 0.2 ("use") and 1.3 (an identifier)."""
    if folded.isdigit():
        return _SHORT_NUMBER if len(folded) < 4 else _LONG_NUMBER
    written, stemmed = _known()
    if folded in written:  # "port" is no form of "porta"
        return written[folded]
    known = [stemmed[form] for form in _forms(folded) if form in stemmed]
    if known:
        return min(known)
    return IDENTIFIER if len(folded) > 3 and _MARKED.search(folded) else OTHER


def _forms(folded: str) -> Iterator[str]:
    """A word, its stems in both languages, and what it is an inflection or comparison of."""
    words = [
        folded,
        *(w for w, worth in thesaurus.related_words().get(folded, {}).items() if worth == thesaurus.INFLECTION),
    ]
    if ending := _COMPARISON.search(folded):
        bare = folded[: ending.start()]
        words += [bare + (ending["double"] or ""), bare + "y" if ending["y"] else bare, bare + "e"]
    for word in words:
        yield word
        yield tokenizer.stem(word, "en")
        yield tokenizer.stem(word, "pt")


@cache
def _known() -> tuple[dict[str, float], dict[str, float]]:
    """Ordinary words, and their stems."""
    written: dict[str, float] = {}
    stemmed: dict[str, float] = {}

    def put(words: Iterable[str], language: tokenizer.Language, worth: float) -> None:
        for word in words:
            written[word] = min(written.get(word, worth), worth)
            for form in (word, tokenizer.stem(word, language)):
                stemmed[form] = min(stemmed.get(form, worth), worth)

    for language in ("en", "pt"):
        put(_SOFTWARE, language, SOFTWARE)
        put(stopwords.REQUESTS | stopwords.WEAK, language, REQUEST)
    put(_ENGLISH, "en", EVERYDAY)
    put(_PORTUGUESE, "pt", EVERYDAY)
    return written, stemmed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _words(
    """
    able accept accident according act active actual actually add addition advantage advice agency ago agree ahead
    aim air alive allow almost alone along already always amount angle angry animal another answer anybody anyone
    anything anyway anywhere appear apple apply around arrangement arrive art ask aspect attempt attention attitude
    avoid aware away baby back bad balance ball based basic bath beach beautiful become bed begin behaviour behind
    believe belong benefit best better big bird bit blood blue boat book border bottom box boy bread break breakfast
    bright bring broken brother brown build bus business busy call camera capital car care career careful case cat
    catch cause central century certain chair chance change chapter charge cheap check chief child children choice
    choose church circle city civil claim classic clean clear clearly close clothes coat coffee cold collection
    color colour combination come common competition complete completely concept conference consider contain
    continue control cook copy corner correct cost council count country couple course cover create crime crowd cup
    curious current currently cut dad daily damage danger dark daughter day days dead deal dear death decide deep
    degree demand department detail difference different difficult dinner direction directly discussion disease
    distance doctor does dog door double doubt dream dress drink drive drop dry ear early earth easily easy eat
    economy edge edit education effect effort egg empty end energy enough enter entire equal especially even evening
    event everybody everyone everything everywhere evidence exact exactly example except exercise exist expect
    experience expert explain extra extreme eye eyes face fact fail failure fair fake fall false family famous far
    farm farmer fast father favorite favourite feel feeling feet few figure fill final finally find fine finger
    finish fire first fish fit fix floor flower fly follow food foot force foreign forget forward found free freedom
    fresh friend fruit full fun future garden general giant girl give glass goal gold good government grass great
    green grey ground group grow growth guess guide guilty habit hair half hand handle happen happy hard hate head
    health hear heart heavy height help high history hit hold holiday home honest hope horse hospital hot hour hours
    house huge human husband ice idea ideal imagine immediately important improve include income increase industry
    inside instead instruction interest interesting island item joint jump keep kid kids kind king kitchen know
    knowledge lack lady lake large last late later law lazy lead learn least leave left leg legal legs less lesson
    let letter level life light like likely line little live load long look lose loss lot loud love low lucky lunch
    main majority make man manage management many mark market material matter may maybe meal mean meaning measure
    meat medical meet meeting member men mental mention metal middle mild milk mind minute minutes miss mistake mix
    modern moment money month months mood moon morning most mother mountain mouth move movement movie much museum
    music must name nation native natural nature near nearly neat necessary neck need negative nervous never new
    news next nice night nobody noise normal normally nose note nothing number obvious obviously ocean odd offer
    often oil old one open opinion opportunity opposite option order original otherwise outer outside own pain pair
    paper parents park part particular party pass past pay peace people perfect perhaps period person physical pick
    picture piece place plain plan plane plant play plenty poem point polite poor popular position positive possible
    possibly power powerful practice prefer prepare present press pressure pretty prevent price principle probably
    problem produce programme progress proper protection proud provide public pure purpose push put quality queen
    question quick quickly quiet rain range rare rate rather raw reach reaction read ready real reality really
    reason receive recent recently red regular related relation relationship remain remember remove repeat replace
    reply report require responsibility rest return rich right risk river road roof room rough round royal rude rule
    run sad safe same save say scene school science sea seat second see seem sell send senior sense separate series
    serious set several shall shape share sharp ship shirt shoe shop short show shower side sign silent silly
    similar simple simply since single sister sit situation size skill skin skip sky slow slowly small smart smooth
    snow social society soft solid solution someone something sometimes somewhere son song soon sorry sound space
    spare speak special species specific speed spend split spring stable staff stage stand standard star start state
    stay steady step still stone stop store story straight strange street strength strict strong structure struggle
    student stuff stupid subject success such sudden suddenly sugar suggest summer sun support suppose sure surface
    sweet switch tail take talk tall tea teacher teaching technology teeth tell ten tendency term than theory thick
    thin thing things think threat three through throw time times tiny tired today together tomorrow tone tonight
    top topic total touch tough town toy track trade tradition train travel treat trip trouble true truth try turn
    twice two type typical uncle understand unique university unless until unusual upset urgent use used useful user
    users usual usually valid value variety various vegetable victim victory view village visible visit voice vote
    wait walk wall want war warm watch water way weather wedding week weeks weight weird well wet whole wide wife
    wild win wind wine winter wise wish without woman women wood wooden word words work world worry worse worst
    worth wrap write wrong yard year years yellow yes yesterday young zero
    """
)

_PORTUGUESE = _words(
    """
    abrir acabar achar acontecer acordo adicionar adorar agora agua aguentar ainda ajuda ajudar ajudou alem algo
    alguem algum alguma algumas alguns almoco alta alto amanha amarelo amigo amigos amor andar animais animal ano
    anos antes antigo apagar aparecer apenas aprender apresentar aproveitar aqui area arte arvore assim assistir
    ator atras aula aumentar autor avisar azul bairro baixo barco bastante bater bebe beber bem bicho boa boca bolo
    bom bonito branco brincar buscar cabeca cabelo caber cachorro cada cadeira cafe cair caixa calcular calor cama
    caminhar cantar cantor cao carne carregar carro carta casa casada casado casamento casar caso castelo causa
    causar cavalo cedo centro certo cerveja ceu chamar chao chegar cheio chuva cidade ciencia cima cinema claro
    cobrar coisa coisas colocar combinar comecar comeco comer comida comparar completo comprar comum concordar
    conhecer conseguir contar continuar conversa convidar copiar cor coracao corpo correr correto cortar costa
    cozinha crescer crianca criancas criar cuidado cuidar culpa cultura curso curtir curto custar custo dar decidir
    dedo deixar demais demorar dente dentro depender depois descansar descobrir desculpa desenho desistir deve dever
    devia devolver dia dias diferente dificil dinheiro direito direto discutir dividir dizer doce doenca dois dono
    dormir duas durante duvida duvidar economia embora empresa encaixar encontrar energia enganar enquanto ensinar
    entender entrar entregar enviar errado errar escola escolha escolher escrever escuro espaco especial esperar
    esquecer estacao estar estrada estrela estudar estudo evitar exato exemplo exercicio existir explicacao explicar
    facil faco falar falta faltar familia fazer fechar feira feito feliz ferias festa ficar filha filhas filho
    filhos filme fim final fiz fizer flor floresta fogo fome forca forma forte frente frio fruta fumar funcionar
    fundo futebol futuro ganhar ganhou gastar gato gente geral gostar governo graca grande grupo guardar guerra
    habito historia hoje homem homens hora horas hospital idade ideia igreja igual ilha imaginar importante incluir
    inicio inteiro inverno ir irma irmao janela jantar jardim jeito jogar jogo jornal jovem juntar junto justo lado
    lago largo lei leite lembranca lembrar lento ler letra levar leve ligar limpar lindo linha lista livro logo loja
    longe longo lua lugar luz mae maior mais mal mandar mandou maneira manha mao maos mar marido mau medico medo
    meio melhor melhorar menor menos mercado mes mesa meses mesmo meter mexer minuto minutos momento morar morrer
    morte mostrar motivo mudanca mudar muito mulher mulheres mundo musica nada namorada nascer natal natureza
    necessario nenhum neve ninguem noite nome normal notar nova novo numero nunca oferecer olhar olho olhos ontem
    opiniao ouro outra outras outro outros ouvir pagar pai pais parar parecer paredes parque parte partir passar
    passaro passeio passo pedir pedra pegar peixe pena pensar pensei pequeno perceber perder pergunta perguntar
    permitir perna perto pes pesquisar pessoa pessoal pessoas piada pintar piorar planta pode podemos poder podes
    poema politica ponto porta possivel pouco povo praia prato precisar preciso preco preferir prender preparar
    presente preto primeiro problema procurar professor professora proibir prometer pronto proprio prova provar
    proximo publicar puxar qualidade quarto quase quebrar queijo quente querer questao rainha rapido realmente
    receber reclamar reduzir rei religiao remover repetir resolver responder resposta restaurante resto resumir rico
    rio rir rodar roubar roupa rua saber sair sal saltar sangue saudade saude seco segredo seguinte seguir segundo
    semana semanas sempre sentar sentir ser serio servir simples sino sobrar sol som somar sonho sono sorrir sorte
    sozinho subir sugerir sul surgir tamanho tarde teatro tem tempo tentar ter terminar terra tia tio tirar tocar
    tomar total trabalhador trabalhar trabalho tras tratar treinar tres triste trocar ultimo unico universidade
    usada usado usar uso usuario valer valor varios velho velocidade vender vento ver verao verdade verde verificar
    vermelho vestido vestir vez vezes viagem viajar vida vidro vila vinho violencia vir visita viver vizinho voar
    voltar vou voz
    """
)

_SOFTWARE = _words(
    """
    abstract access account acesso address adicional agent alert algorithm analise analysis annotation anterior api
    aplicacao aplicativo app append application apresentacao architecture argument armazenar arquivo arquivos array
    async attach attribute atual atualizar autenticacao automatico available average aviso backend backup banco base
    bash batch biblioteca binary block board body boolean botao bracket branch browser buffer bug bugs busca button
    byte cache callback camada caminho campo canvas card cast cell celula celular chain chamada character chart
    chave chaves checkbox class classe cli click client cliente clone cloud cluster code codigo column coluna
    comando comentario command comment commit comparacao comparison compile component componente computador
    concurrent condition conexao config configuracao configurar configuration connection console constant constraint
    constructor consulta consumer conta container content conteudo context contexto cookie correcao coverage crash
    crawl cron css csv custom customer dado dados data database date debug decorator default define delay delete
    dependencia dependency deploy deployment depurar descricao desenvolvimento design desktop detalhe dev developer
    device dialog dict dictionary diff digit directory direitos diretorio disk docker docs document documento domain
    download driver duplicado duplicate dynamic edicao editor element elemento email emoji encoding endereco endless
    endpoint engine entity entrada entrega entry enum env environment equals equipa equipe erro error errors erros
    escala escopo esquema estado estimate etapa evento excecao exception executar execute execution exibir export
    exportar expression extension externo fallback feature ferramenta fetch ficheiro ficheiros field fila file files
    filter fixture flag flaky float fluxo folder font footer foreach fork form format formato formatter formulario
    fragment framework frontend funcao function game gateway generator generic gerar gestao git global grafico graph
    handler hardware hash header heap hidden highlight hook host hover html http https icon id identifier idle image
    imagem implement implementar import importar imprimir indent index indice info inheritance inicial initial
    inline input insert instalacao instalar install instance int integer integracao integration interface internet
    interno intervalo issue iterate iterator job join json kernel key keyboard label laco lancamento language laptop
    latency launch layer layout legacy leitura length library ligacao limit limite link lint linter linux list
    literal loader local localhost lock log login logs lookup loop lote machine macro map maquina margin markdown
    mask maximo maximum media memory mensagem menu merge merged message messages method metodo metric migration
    minimo minimum mobile mock mode model modelo modificar module modulo monitor mouse mutable namespace navegador
    nested nivel node notebook notificacao notification null numeric object objeto office offline offset online
    opcao operation operator optional ordem output overlay override owner package pacote padding padrao pagamento
    page pagina panel parallel parameter parametro parametros parent parse parser password pasta paste patch path
    pattern payload payment pedido peer performance permissao permission pesquisa phone pipeline pixel placeholder
    plano playbook plugin pod pointer policy ponteiro pool popup port prazo prefixo primary primitive principal
    privado private process processo prod producao producer product production produto profile program programa
    project projeto promise prompt property propriedade protocol prototype provider proxy publico publish publisher
    pull python query queue random receiver record recursion recursive rede refactor reference referencia regex
    register registo registro reiniciar relatorio release rename render replica repo repositorio repository request
    requests requisicao requisito reset resource responsavel response restart restore result resumo retry revert
    review revisao role rollback root rota route router row runner runtime saida sample scale schedule scheduler
    schema scope screen script scroll search secret section security seed seguranca selecao select selector sender
    senha sequence sequencia serial server service services servico servicos servidor sessao session settings setup
    shard shell sidebar signal sinal sistema site sleep slice slot snapshot socket software solucao sort source spec
    sprite sql stack staging standalone statement static status storage stream streaming string struct stub style
    submit subscribe subscriber substring suffix summary superior suporte swap sync synchronous syntax system tab
    tabela table tables tag tamanhos tarefa task tasks team teclado tecnico tela telemovel template temporario
    terminal test teste tester testes testing tests text texto theme thread ticket timeout timer timestamp tipo
    title toggle token tool trace traceback transaction transform translate tree trigger tuple tutorial types
    typescript ui undefined unit update upgrade upload url username usuarios utility utilizador utilizadores
    validate validation validator variable variavel vazio vector verbose versao version vetor video visivel volume
    vulnerability warning web website widget wildcard window windows wizard worker workflow wrapper zone
    """
)
