"""Recipes made by chance from the language's own words: whole ones, and such with slips of every kind in them."""

from __future__ import annotations

from random import Random

TITLES = ('"Cold caches"', "'it is \"so\"'", '"ümläut — $size"', "no quotes", '""', "")
KINDS = (
    *("size", "int", "duration", "name", "db", "cellset", "command", "file", "text", "number", "diskgroup", "prefix"),
    *("size|keep", "int|all|none", "choice(a|b)", "choice( fast | slow )", "choice()", "sze", "SIZE", "choise(a)", ""),
)
DEFAULTS = ("", "", "= 288g", "= keep", "='a  b'", '= "x; y"', "= 1", "= 90s", "= a", "= $(id)", "= `id`")
HELPS = ("", '"how  much"', '"$size"', '"unclosed', '"é"')
NAMES = ("size", "db", "n", "Size", "x", "how", "9x", "load")
NEEDS = (
    "asm",
    "opaque",
    "release>=19.3",
    "release >= 12.1",
    "mode=writeback",
    "media=flash",
    "hosts=ini",
    "amm",
    "mode>=x",
)
RISKS = ("none", "performance", "Redundancy", "data", "huge", "")
VALUES = (
    "$size",
    "${size}",
    "$n",
    "$nix",
    "288g",
    "'a  b'",
    '"c;d"',
    "x_${n}_y",
    "(name=$db,share=1)",
    "don't",
    "$",
    "${",
    "é",
)
LINES = (
    "list griddisk attributes name, size",
    "LIST  griddisk   where name like 'DATA.*'  detail",
    "list grididsk",
    "resize flashcache size={}",
    "resize flashcache size = {}  --rolling",
    "flush flashcache recreate=needed",
    "enable flashlog db={}",
    "check all flashcache.status = normal",
    "check  all   physicaldisk.status = normal where diskType=flashdisk",
    "check no  griddisk where asmModeStatus=OFFLINE",
    "check same flashcache.size , cell.flashCacheMode",
    'check list flashcache.size >= {} "too  small"',
    "wait until all flashcache.status='normal - flushed' every=5s  for=1h",
    "wait {}",
    "snap flashcache as={}",
    "snap flashcache as=at_${wave}",
    "alter iormplan dbplan=((name={},  share=8), (name=default,share=1))",
    "alter cell comment={}",
    "alter cell comment='a   b'   -y",
    "on exa1cel[01-02]  list cell",
    "on (where  flashCacheMode = writeback)  list   cell",
    "on @db  sh   echo  'a   b'   {}",
    "sh  uptime;  uname",
    "host  ./load.sh  --x   {}",
    'sql  db={}  "select   1 from v$log"',
    "sql asm  select  'a   b' from dual",
    'prompt  "a   b"   ',
    "prompt  a   b",
    'confirm  "is it   so?"',
    "@other  size={}",
    "run  other   size={}",
    "undo  run",
    "undoo",
    "create diskgroup {} prefix={} redundancy=normal",
    "$n flashcache",
    "list cell | wc",
    "end",
    "list cell;",
    ";",
)
WHENS = (
    "",
    "",
    "",
    "when $size = keep",
    "when  $size!=keep  and $n=3",
    "WHEN $x = 'a'",
    "when",
    "when $size > 1",
    "when $n = 3;",
)
COMMENTS = ("", "", "", "-- why", "  --   spaced   out  ", "--", "# none")
OPENERS = (
    "matrix size in 288g , 320g",
    "matrix x in $n y in 'a , b',c",
    "matrix",
    "matrix b 1",
    "finally",
    "Finally",
    "rolling 2",
    "Rolling",
    "on  (where status = online)  rolling   $n",
    "rolling = 2",
    "on rolling",
    "on exa1cel01 rolling two",
    "rolling 2 --pause=ask",
    "experiment factor=flashlog  db=SPOT",
    "finaly",
)
LOOSE = ("# a comment", "#", "   REM   said", "-- dashed", "--x", "", "", "", "\t", "\f", "remark", "# don't", "# (")
LONG = (
    ("alter cell -", "   comment='a   b' -", "  -y"),
    ("list griddisk -  ",),
    ("alter iormplan dbplan=((name=a,", "   share=1),  ", "(name=default,share=2))"),
    ("alter cell comment='two  ", "   lines'"),
    ('sql asm "select  1', '  from   dual"'),
    ("sh  echo a -", "   b"),
    ("param long : int -", "   = 3"),
    ("list cell -", "", "list cell"),
)


WHOLE_HEADER = (
    *('recipe "Cold  caches"', "recipe 'it is \"so\"'", "risk performance", "RISK  Data", "needs asm,release >= 19.3"),
    *(
        "needs  media=flash ,mode=writeback",
        "let before=list flashcache.size of $at",
        'let  n =  sql db=$db "select 1 n from dual".n',
    ),
)
WHOLE_PARAMS = (
    *(
        'param size:size|keep = keep "help"',
        "param  db  : db",
        'param at : cellset = exa1cel01   "a  cell"',
        "param how : choice( on | off )=on",
    ),
    *('param sizes : text = "288g, 320g"', "param load: command|none = none -- of the load", "param many : int=2"),
)
WHOLE_LINES = (
    *(
        "list griddisk attributes name, size",
        "LIST  griddisk   where name like 'DATA.*'  detail",
        "flush flashcache recreate=needed",
    ),
    *(
        "resize  flashcache size=$size  when $size!=keep",
        "resize flashcache size = 288g  --rolling",
        "enable flashlog db=$db WHEN $how=on and  $size = keep",
    ),
    *(
        "check  all   flashcache.status = normal",
        'check list flashcache.size >= 100g "too  small"',
        "check same flashcache.size , cell.flashCacheMode",
    ),
    *(
        "wait until all flashcache.status='normal - flushed' every=5s  for=1h",
        "wait  90s;",
        "snap flashcache as=at_${db}",
        "alter cell comment='a   b'   -y",
    ),
    *(
        "alter iormplan dbplan=((name=$db,  share=8), (name=default,share=1))",
        "on (where  flashCacheMode = writeback)  list   cell",
    ),
    *(
        "on @db  sh   echo  'a   b' --x   c",
        "host  ./load.sh  --x   y",
        'sql  db=$db  "select   1 from v$log"',
        "sql asm  'select  1   from dual'",
    ),
    *(
        'prompt  "a   b"   ',
        "prompt  a   b",
        "@other  size=$size",
        "undo  run",
        "show iorm  -- why",
        "list cell -\n   detail",
        "alter cell comment='two  \n   lines'",
    ),
)


WHOLE_BLOCKS = (
    *("matrix x in $sizes y in 'a , b' ,c", "MATRIX x in 1 , 2", "experiment  factor=flashlog db=$db", "", ""),
    *(
        "rolling",
        "Rolling   2 ;",
        "rolling $many -- at a time",
        "ON  $at   ROLLING  $many",
        "on exa1cel[01-02]  rolling",
    ),
    "on (where  flashCacheMode = writeback)  rolling 2",
)
WHOLE_IN_WAVES = ("snap flashcache as=wave_${wave}", "flush flashcache WHEN  $Wave!=1", "prompt wave $wave  -- which")


def whole_recipe(chance: Random) -> str:
    """Return the text of a recipe in which nothing is wrong, set in any way."""
    header = [*chance.sample(WHOLE_HEADER[:2], 1), *WHOLE_PARAMS, WHOLE_HEADER[chance.randint(2, 3)]]
    lines = [*header, WHOLE_HEADER[chance.randint(4, 5)], *chance.sample(WHOLE_HEADER[6:], chance.randint(0, 2))]
    blocks = chance.sample(WHOLE_BLOCKS, 3) + chance.choice([[], ["Finally"]])
    for opens in blocks:
        rolls, part = "rolling" in opens.lower(), opens.startswith("experiment")
        own = [line for line in WHOLE_LINES if not (rolls or part) or not line.startswith("undo")]
        own += WHOLE_IN_WAVES if rolls else ()
        body = [chance.choice(own) for _ in range(chance.randint(1, 4))]
        lines += [opens, *body, chance.choice(("end", "END"))] if opens else body
    told = [piece for line in lines for piece in (line, *([chance.choice(LOOSE[:8])] if chance.random() < 0.2 else []))]
    return "\n".join(line if "\n" in line else _blanks(chance, line) for line in told) + chance.choice(("", "\n\n"))


def made_recipe(chance: Random) -> str:
    """Return the text of a recipe; two in five are whole, and the others may hold what only looks like the language."""
    if chance.random() < 0.4:
        return whole_recipe(chance)
    lines: list[str] = []
    for _ in range(chance.randint(0, 5)):
        lines.append(_header(chance))
        if chance.random() < 0.2:
            lines.append(chance.choice(LOOSE))
    depth = 0
    for _ in range(chance.randint(0, 9)):
        dice = chance.random()
        if dice < 0.12:
            lines.append(chance.choice(OPENERS))
            depth += 1
        elif dice < 0.22 and depth:
            lines.append(chance.choice(("end", "END", "end  ", "end now")))
            depth -= 1
        elif dice < 0.32:
            lines += chance.choice(LONG)
        elif dice < 0.45:
            lines.append(chance.choice(LOOSE))
        elif dice < 0.48:
            lines.append(_header(chance))
        else:
            lines.append(_statement(chance))
    if chance.random() < 0.8:
        lines += ["end"] * depth
    text = chance.choice(("\n", "\n", "\n", "\r\n")).join(_blanks(chance, line) for line in lines)
    if chance.random() < 0.15:
        text = _slipped(chance, text)
    return text + chance.choice(("", "\n", "\n\n\n"))


def _header(chance: Random) -> str:
    word = chance.choice(("recipe", "param", "param", "param", "risk", "needs", "let", "Param", "pram"))
    rest = {
        "recipe": lambda: chance.choice(TITLES),
        "risk": lambda: chance.choice(RISKS),
        "needs": lambda: chance.choice((",", " , ", ", ")).join(chance.sample(NEEDS, chance.randint(0, 3))),
        "let": lambda: (
            chance.choice(("a", "before", "size"))
            + chance.choice((" = ", "=", "  ", " =  "))
            + chance.choice(
                ("list flashcache.size of exa1cel01", 'sql db=$db "select  1 as n from dual".n', "drop x.y", "")
            )
        ),
    }.get(word, lambda: _param(chance))()
    return f"{word}{chance.choice((' ', '   '))}{rest}{chance.choice(COMMENTS)}{chance.choice(('', '', ';'))}"


def _param(chance: Random) -> str:
    kind = chance.choice(KINDS)
    declared = chance.choice((" : ", ":", "   :  ")) + kind if kind else ""
    return f"{chance.choice(NAMES)}{declared} {chance.choice(DEFAULTS)}  {chance.choice(HELPS)}  "


def _statement(chance: Random) -> str:
    line = chance.choice(LINES)
    while "{}" in line:
        line = line.replace("{}", chance.choice(VALUES), 1)
    return f"{line}{chance.choice(('  ', ' '))}{chance.choice(WHENS)}{chance.choice((' ', '   '))}{chance.choice(COMMENTS)}"


def _blanks(chance: Random, line: str) -> str:
    return chance.choice(("", "", "", "  ", "\t", "      ")) + line + chance.choice(("", "", " ", "\t"))


def _slipped(chance: Random, text: str) -> str:
    """Return a text with a few characters put in, taken out or doubled anywhere."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randint(0, len(text))
        put = chance.choice(
            (
                "",
                "'",
                '"',
                "(",
                ")",
                "-",
                " -\n",
                "--",
                "\n",
                "\x00",
                "\x85",
                "\u2028",
                "$",
                ";",
                "#",
                " when ",
                "end\n",
                "=",
                "<<EOF\n",
            )
        )
        text = text[:place] + put + text[place + chance.randint(0, 3) :]
    return text
