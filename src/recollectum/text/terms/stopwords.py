"""Stop words in seven languages: words that do not say what a question is about.

Personal pronouns are among them: in a conversation nearly every message has one. Negations are not: "what don't I eat"
asks for the message that denies. A function word of one language that is a thing in another's chats (`ai`, `bin`,
`car`, `ci`, `die`, `era`, `hat`, `man`, `may`, `os`, `sin`, `son`, `war`) is not either: people search for the thing.
"""

_ENGLISH = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing during each few for from further get got had has have having he her here hers him his
how i if in into is it its itself just let many me might more most much must my of off on once one only or other our
ours out over own please really same say says said shall she should so some such tell than that the their theirs them
then there these they this those through to too under until up upon us very was we were what when where which while
who whom whose why will with would you your yours
"""
_GERMAN = """
aber als am an auch auf aus bei bis bist da dann das dass dein deine dem den der des dich dir du ein eine einem einen
einer es euch für gibt habe haben hast hatte ich ihm ihn ihr im in ist ja kann mein meine mich mir mit nach noch nur
ob oder sein seine sich sie sind so über um und uns unser vom von vor was weil wenn wer werden wie wir wird wo zu zum
zur
"""
_FRENCH = """
au aux avec avez ce ces cet cette dans de des du elle elles en est et il ils je la le les leur leurs lui ma mais me
mes moi mon nous on ont ou où par qu quand que quel quelle qui quoi sa se ses si sont suis sur ta te tes toi tu un une
vos votre vous y à été être
"""
_SPANISH = """
al como con cual cuando de del desde donde el ella ellas ellos en entre eres es esa ese eso esta este esto estoy fue
han hasta la las le les lo los más me mi mis muy nos o para pero por porque que qué quien quién se ser si sobre soy su
sus también te tiene tu tus un una unos y ya yo
"""
_ITALIAN = """
agli al alla alle anche che chi con cosa cui da dal dalla dei del della delle dello di dove e ed gli hai hanno il la
le lei li lo loro ma mi mio nei nel nella noi per perché più quale quando quella quello questa questo se sei si sono
sua sul sulla suo ti tu tua tuo un una uno voi è
"""
_PORTUGUESE = """
ao aos as até com como da das de dele dela do dos e ela elas ele eles em entre essa esse esta este está foi isso isto
já lhe mais mas me meu minha muito na nas nos o onde ou para pela pelo por porque quando que quem se ser seu seus sou
sua suas também te tem um uma você vocês à é
"""
_DUTCH = """
aan al als bij dan dat de deze dit doen door een en er had heb hebben heeft hem het hij hoe hun ik in is ja je jij jou
kan maar me mij mijn naar nog nu of om onder ons ook op te tot uit van veel voor waar wat we wel werd wie wij wil
worden zal ze zich zij zijn zo zou
"""

STOP_WORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN} {_PORTUGUESE} {_DUTCH}".split())
