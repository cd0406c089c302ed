"""Portuguese words with the English ones that may stand for them, folded; general language, no corpus was mined."""

from __future__ import annotations

PAIRS = """
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
dados data database
tabela table
consulta query
arquivo file
pasta folder
codigo code
linguagem language
versao version
teste test
erro error bug
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
cafe coffee
cha tea
agua water
leite milk
pao bread
carne meat
peixe fish
almoco lunch
jantar dinner
cozinha kitchen
receita recipe
alergia allergy
alergico allergic
remedio medicine
peso weight
altura height
proprietario owner
chefe boss
gerente manager
engenheiro engineer
desenvolvedor developer
professor teacher
aluno student
salario salary
orcamento budget
contrato contract
preco price
barato cheap
aluguel rent
rua street
estrada road
bairro neighborhood
vizinho neighbor neighbour
quarto bedroom
banheiro bathroom
jardim garden
cadeira chair
mesa desk
arvore tree
flor flower
passaro bird
cavalo horse
crianca child
bebe baby
casado married
solteiro single
casamento wedding marriage
gravida pregnant
apelido nickname
sobrenome surname
aviao plane
voo flight
aeroporto airport
passagem ticket
passaporte passport
trem train
onibus bus
bicicleta bike bicycle
praia beach
montanha mountain
clima weather
chuva rain
verao summer
inverno winter
outono autumn
primavera spring
feriado holiday
manha morning
noite night
semana week
mes month
ano year
dia day
hora hour
minuto minute
azul blue
vermelho red
verde green
preto black
branco white
amarelo yellow
roxo purple
laranja orange
cinza gray grey
grande large big
pequeno small
velho old
lento slow
futebol soccer football
natacao swimming
corrida running
academia gym
violao guitar
pintura painting
festa party
passatempo hobby
esporte sport
foto photo
pergunta question
resposta answer response
ideia idea
solucao solution
problema problem
curso course
universidade university
lei law
coluna column
linha line
janela window
teclado keyboard
impressora printer
copia copy backup
acesso access
assinatura subscription
recurso feature resource
funcionalidade feature
lancamento release
compilacao build
homologacao staging
pacote package
licenca license
repositorio repository
mesclagem merge
pedido request order
tentativa retry attempt
limite limit
tamanho size
comprimento length
largura width bandwidth
numero number
vetor array vector
laco loop
calendario calendar
registro log record
defeito bug
cobertura coverage
entrega delivery
armazenamento storage
nuvem cloud
navegador browser
roteador router
lingua language tongue
abrir open
acabar finish end
achar find think
acontecer happen
acordo agreement
acordar wake
adicionar add
acrescentar add
ajuda help
ajudar help
ajustar adjust
alterar change alter
alteracao change
apagar delete erase
eliminar delete remove
excluir delete exclude
aparecer appear
aprender learn
aprendendo learning
aprovar approve
aprovacao approval
apresentar present
apresentacao presentation
aprovado approved
armazenar store
guardar store keep save
gravar save record
salvar save
arte art
atualizar update upgrade
atualizacao update upgrade
aula class lesson
aumentar increase
ator actor
autor author
autenticar authenticate
autenticacao authentication
autorizar authorize
avisar warn notify
aviso warning notice
alerta alert
alarme alarm
barco boat
bater hit
beber drink
bebida drink beverage
boca mouth
bolo cake
brincar play
buscar search fetch
busca search
pesquisar search
pesquisa search research
cabeca head
cabelo hair
calcular calculate compute
calor heat
cama bed
caminhar walk
caminho path
cantar sing
canta sings
cantor singer
canto corner
cao dog
cadela dog
cachorra dog
gata cat
carregar load charge
carga load
carta letter
castelo castle
causa cause
cedo early
centro center centre
cerveja beer
vinho wine
ceu sky
chamada call
chamar call
chama called
chegar arrive
cheio full
ciencia science
cientista scientist
cobrar charge bill
cobranca billing
faturacao billing invoicing
combinar combine
comentario comment
comparar compare
completo complete
compartilhar share
partilhar share
computador computer
portatil laptop
celular phone mobile
telemovel phone mobile
concordar agree
conexao connection
ligacao connection link
conhecer know
conseguir manage
contar count
convidar invite
coracao heart
corpo body
correto correct
corrigir fix correct
correcao fix correction
correio mail email
cortar cut
criar create
criado created
crescer grow
cuidar care
cuida cares
culpa fault
curto short
custar cost
custo cost
dedo finger
dente tooth teeth
dentista dentist
depender depend
descansar rest
descobrir discover
descricao description
desenho drawing design
desenhar draw design
desistir quit
desligar disconnect
destino destination target
devolver return
diferente different
dificil difficult hard
direto direct
diretorio directory
disco disk
dispositivo device
aparelho device
discutir discuss
dividir divide split
doce sweet
doenca disease illness
doente ill sick
dono owner
dona owner
dor pain
dormir sleep
duvida doubt
economia economy
encontrar find meet
energia energy
enganar deceive
ensinar teach
entender understand
entrar enter
entrada input entry
saida output exit
entregar deliver
enviar send
envio sending shipping
errado wrong
escolha choice
escolher choose
escopo scope
escrever write
escreve writes
escrito written
escuro dark
espaco space
especial special
esperar wait
esquecer forget
esquema schema scheme
esquerda left
direita right
estacao station season
estado state status
estrela star
estudar study
estuda studies
estudo study
evento event
evitar avoid
exato exact
excecao exception
exemplo example
executar run execute
execucao run execution
exercicio exercise
experimento experiment
explicar explain
exportar export
importar import
facil easy
falar speak talk
falta lack
faltar miss
fazer make do
fechar close
feira fair
feliz happy
ferramenta tool
ficheiro file
filtrar filter
filtro filter
floresta forest
fogo fire
fome hunger
fornecedor supplier vendor provider
forma form shape
formato format
formulario form
forte strong
frente front
frio cold
fruta fruit
fumar smoke
funcionar work
funcionario employee
fundo background bottom
futuro future
ganhar win earn
gastar spend
gerar generate
gerado generated
gestao management
gestor manager
governo government
grafico chart graph
grupo group
guerra war
habito habit
historia history story
historico history
homem man
hospedar host
hospedagem hosting
alojado hosted
idoso elderly
igreja church
igual equal
ilha island
imagem image picture
imaginar imagine
imposto tax
imprimir print
incluir include
iniciar start begin
inicio start beginning
inteiro whole integer
instalar install
instalado installed
integracao integration
intervalo interval break
inverter reverse
investigar investigate
jogar play
joga plays
jogo game
jogador player
jornal newspaper
jovem young
juntar join merge
fundir merge
lado side
lago lake
leitura reading read
lembranca memory
lembrar remember
ler read
letra letter
leve light
ligar connect call
limpar clean clear
lista list
lixo trash garbage
loja shop store
longe far
lua moon
lugar place
luz light
mandar send
manutencao maintenance
mao hand
mapa map
maquina machine
marca brand mark
marcar book schedule mark
agendar schedule
agenda calendar schedule
medir measure
medida measure
medo fear
mensagem message
mercado market
metodo method
mexer touch change
modelo model
modificar modify
modulo module
momento moment
monitorizacao monitoring
monitoramento monitoring
morrer die
morte death
obito death
mostrar show
exibir show display
motivo reason
mudanca change
mudar change move
mulher woman wife
mundo world
museu museum
namorada girlfriend
namorado boyfriend
nascer born
nascimento birth
natal christmas
natureza nature
navio ship
negocio business
neve snow
nivel level
noticia news
notificacao notification
nulo null
objeto object
objetivo goal objective
meta goal target
oferecer offer
olhar look
olho eye
opcao option
opiniao opinion
ordem order
origem source origin
ouro gold
ouvir hear listen
padrao pattern default standard
pagar pay
palavra word
parametro parameter
parar stop
parceiro partner
parede wall
parque park
participar participate
passo step
passeio walk
pedra stone
pegar catch get
peca part piece
pensar think
perceber notice
perder lose
perfil profile
permitir allow
permitido allowed
perna leg
pessoa person
pessoas people
piada joke
pintar paint
planta plant
plano plan
plataforma platform
poema poem
politica policy politics
ponto point
povo people
prato dish plate
precisar need
preencher fill
prefixo prefix
sufixo suffix
prender hold
preparar prepare
presente gift present
principal main
privado private
publico public
processo process
procurar search look
proibir forbid
proibido forbidden
prometer promise
propriedade property
protecao protection
proteger protect
prova test exam
exame exam
quebrar break
queijo cheese
queda crash fall
quente hot
rainha queen
rei king
rapido fast quick
receber receive
rececao reception
reclamar complain
recuperar recover restore
reduzir reduce
regra rule
reiniciar restart reboot
arrancar start boot
relatorio report
religiao religion
relogio clock watch
remover remove
renovar renew
repetir repeat
requisito requirement
requisicao request
resolver solve resolve
responder answer reply
responsavel responsible
restaurar restore
restauro restore
restaurante restaurant
resultado result
resumir summarize
resumo summary
retornar return
reverter revert rollback
rever review
rico rich
rio river
rir laugh
roubar steal
roupa clothes
sair leave exit
sal salt
saltar jump
pular jump skip
sangue blood
seco dry
secreto secret
segredo secret
seguinte next following
seguir follow
segundo second
selecionar select
sentar sit
sentir feel
servico service
sessao session
sistema system
sobrinho nephew
sobrinha niece
avo grandmother grandfather
tio uncle
tia aunt
primo cousin
prima cousin
neto grandson grandchild
sogra mother-in-law
sogro father-in-law
cunhado brother-in-law
som sound
somar add sum
soma sum
sonho dream
sono sleep
sorrir smile
sorte luck
substituir replace
trocar swap change switch
subir upload rise deploy
descarregar download
baixar download
sugerir suggest
recomendar recommend
suporte support
tarde afternoon late
teatro theater theatre
tecnico technician technical
temperatura temperature
tempo time weather
tentar try
terminar finish end
testar test
texto text
tirar take remove
titulo title
tocar play touch
toca plays
tomar take
topico topic
topo top
traducao translation
traduzir translate
traduzido translated
transferencia transfer
transferir transfer
treinar train
treino training
treinamento training
triste sad
umidade humidity
humidade humidity
unico unique single
usar use
utilizar use
utilizador user
valor value
validar validate
validacao validation
vazio empty
velocidade speed
vento wind
ver see
verdade truth
verdadeiro true
falso false
verificar check verify
vestido dress
viajar travel
vida life
vidro glass
vila village
visita visit
visivel visible
voar fly
voltar return back
voz voice
bolseiro fellow
orientador advisor supervisor
tese thesis
dissertacao dissertation
mestrado master
doutorado phd doctorate
doutoramento phd doctorate
estagio internship
estagiario intern
enfermeiro nurse
enfermeira nurse
advogado lawyer
arquiteto architect
cozinheiro cook chef
jornalista journalist
musico musician
veterinario veterinarian vet
psicologo psychologist
carteira wallet
chapeu hat
sapato shoe
oculos glasses
bateria battery drums
placa board plate
ecra screen
rato mouse
cabo cable
impressao print
latencia latency
estatistica statistics
media average mean
maximo maximum
minimo minimum
percentagem percentage
porcentagem percentage
taxa rate fee
imagens images
certificado certificate
criptografia encryption
cifrado encrypted
criptografado encrypted
encriptado encrypted
fatia slice
trinco lock
bloqueio lock block
bloquear block lock
chamado ticket
incidente incident
contorno workaround
contrasenha password
palavra-passe password
utilidade utility
pagamentos payments
reembolso refund
devolucao refund return
desconto discount
frete shipping
estoque stock inventory
vendas sales
venda sale
compra purchase
carrinho cart
recibo receipt
cartao card
juros interest
emprestimo loan
vegetariano vegetarian
vegetariana vegetarian
intolerante intolerant
amendoim peanut
camarao shrimp
ovo egg
acucar sugar
frango chicken
arroz rice
feijao beans
sopa soup
sobremesa dessert
lanche snack
pequeno-almoco breakfast
cafe-da-manha breakfast
oculista optician
coro choir
coral choir
xadrez chess
guitarra guitar
corre runs
correr run
nadar swim
pescar fish
cozinhar cook
pedalar cycle
bebado drunk
"""
