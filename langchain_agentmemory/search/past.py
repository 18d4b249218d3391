"""Whether a question asks for what holds now or for what held before.

"Where did I live before I moved?" wants the version that a newer one replaced, and
"where do I live now?" the newest. The words that say so are closed classes of English
and Chinese ("used to", "previous", 以前, 原来), told apart here from their other uses:
an earlier *conversation*, a former *colleague*, before *bed*, 走过去, 旧金山.
"""

import re
from typing import Final, Literal

from langchain_agentmemory.search.cues import MOST_CHARACTERS
from langchain_agentmemory.search.past_chinese import asks_in_chinese
from langchain_agentmemory.search.scripts import LazyPattern

Standing = Literal["present", "past", "both", "any"]
"""Which version of a fact a question asks for.

`"past"` is what held before, `"present"` what holds now, `"both"` how one became the
other ("more than before?", 有什么变化), and `"any"` what nothing was said about.
"""

# What a person has one of at a time, so that "my old …" and "my first …" mean the one
# before it, unlike "my old sneakers".
_CHANGEABLE: Final = (
    r"(?:\w+ ){0,2}(?:address|home|house|apartment|flat|place|town|city|neighbou?rhood"
    r"|job|work|employer|company|firm|office|workplace|role|position|title|salary|pay"
    r"|income|boss|manager|team|department|school|college|university|major|gym|doctor"
    r"|dentist|therapist|bank|landlord|roommate|phone|mobile|laptop|computer|tablet"
    r"|car|vehicle|bike|number|e-?mail|password|pin|account|username|nickname|surname"
    r"|name|handle|plan|goal|target|budget|limit|price|rate|rent|fee|cost|quote"
    r"|estimate|deadline|date|time|schedule|shift|routine|habit|diet|dose|dosage"
    r"|medication|weight|record|score|best|rank|status|level|version|setup|editor"
    r"|provider|subscription|carrier|insurance|commute|hairstyle|haircut|favou?rite"
    r"|preference|choice|answer|opinion|idea|size|count|total|ratio|recipe)s?\b"
)
_NEWS: Final = (
    r"(?:\w+ ){0,2}(?:current|present|new|newer|latest|update|upgrade|change|switch"
    r"|move|increase|decrease|raise|promotion|transition|relocation|redesign|revision"
    r"|adjustment|migration|renovation|replacement|diagnosis|merger)\b"
)
_CHANGED: Final = (
    r"(?:add|reach|achiev|hit|step|count|switch|chang|mov|upgrad|updat|quit|resign|retir|replac|convert|transferr?"
    r"|relocat|migrat|increas|decreas|rais|lower|reduc|cut|adjust|revis|modif|swapp?"
    r"|trad|adopt|renam|left|leav|lost|losing|promot|settl|becom|became|improv|start"
    r"|began|beg[iu]n|cancel|dropp?|downgrad|doubl|reschedul|postpon|extend|expand"
    r"|sold|sell|buy|bought|join|got|get|took|tak|stopp?|break|broke|gave|giv)\w*"
)
_PEOPLE: Final = (
    r"(?:\w+ )?(?:colleague|co-?worker|classmate|student|teacher|professor|friend"
    r"|president|neighbou?r|player|teammate|prime|soldier|marine|employee|member)s?\b"
)
_TALK: Final = (
    r"(?:\w+ ){0,2}(?:conversation|chat|discussion|message|session|talk|exchange"
    r"|question|interaction|dialogue|thread|game)s?\b"
)
_SPAN: Final = r"(?:minute|hour|day|week|weekend|month|year|decade|night|season|time)s?"
_HABIT: Final = (
    r"(?:(?:going |heading |i go |we go )?(?:to )?(?:bed|sleep\w*|breakfast|lunch"
    r"|dinner|work|school|class|meal|eating|noon|midnight|midday|dawn|sunrise|sunset|dark"
    r"|bedtime|christmas)s?\b|\d|(?:the )?(?:\w+ )?(?:meeting|exam|test|race|flight"
    r"|party|trip|game|match|show|wedding|event|concert|interview|presentation)\b)"
)
_WHO: Final = r"(?:(?:my|the|his|her|our|their) \w+|\w+)"
_LIVED: Final = (
    r"(?:live|work|stay|study|use|drive|own|have|keep|weigh|earn|make|pay|rent|reside"
    r"|train|bank|like|prefer|believe|think|eat|drink|wear|play|park|sleep|read|spend)"
)
_SUBJECT: Final = (
    r"(?:i|we|he|she|they|it|(?:my|his|her|our|their|the) \w+(?: \w+)?|[a-z]+)"
)
_VERB: Final = (
    r"(?:[a-z]{2,}ed|went|met|came|became|began|took|left|lost|broke|fell|hurt|gave|made"
    r"|found|got|bought|sold|grew|rose|hit|set|put|cut|won|wrote|ran)"
)
_DATED: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|spring|summer|autumn"
    r"|fall|winter|early|mid|late|college|high school|school|university|elementary"
    r"|(?:19|20)[0-9]{2}|'?[0-9]0'?s|the (?:day|beginning|spring|summer|autumn|fall"
    r"|winter|[0-9]|early|late)|my \w+ (?:days|years))"
)
_WHOSE: Final = r"(?:my|his|her|their|our|the|your|\w+'s)"
_PART: Final = (
    r"(?! of (?:the |this |that |last )?(?:year|month|week|day|movie|film|book|show"
    r"|story|song|race|game|match|concert|class|lesson|season|spring|summer|autumn"
    r"|fall|winter|\d|january|february|march|april|may|june|july|august|september"
    r"|october|november|december))"
)

# Each line: words, one of which must occur, and what the query must then look like.
_PAST: Final = (
    (
        "used",
        (
            r"^(?!(?:am|are|is|was|were) (?:\w+ ){1,2}used to\b).{0,200}?"
            r"(?<!\bam )(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )"
            r"(?<!\bbeen )(?<!\bget )(?<!\bgot )(?<!\bgetting )(?<!\bgotten )(?<!'m )"
            r"(?<!\bnot )\bused to\b"
        ),
    ),
    ("use", r"\bdid(?:n't)?\b[^,.;]* use to\b"),
    ("previously formerly originally initially erstwhile", ""),
    ("outdated obsolete superseded", ""),
    ("out", r"\bout[- ]of[- ]date\b"),
    ("previous", rf"\bprevious (?!{_TALK})"),
    ("initial", r"\binitial (?!conversation|chat)"),
    ("prior", rf"\bprior (?:to\b|{_CHANGEABLE})"),
    ("former", rf"\bformer (?!{_PEOPLE})"),
    ("first", r"\bat first\b(?! (?:glance|sight|base|light))"),
    ("first", rf"\b(?:my|our|his|her|their) (?:very )?first {_CHANGEABLE}"),
    (
        "first just originally newly",
        rf"\bwhen {_WHO} (?:had |have |was |only )*(?:first|just|newly) (?!time)\w+",
    ),
    (
        "first",
        r"\bfirst (?:told|mention|said|say|stat|report|describ|plann?|thought|set)",
    ),
    (
        "start beginning outset",
        rf"\b(?:at|in|from) the (?:very )?(?:start|beginning|outset)\b{_PART}",
    ),
    ("begin start", r"\bto (?:begin|start) with\b"),
    ("out off", r"\b(?:start(?:ed|ing)?|began|begin) (?:out|off)\b"),
    ("starting", r"\bstarting (?:weight|salary|point|level|price|rate|goal|number)\b"),
    ("past", rf"\bin the past\b(?! (?:(?:\w+ )?{_SPAN}\b|few|couple|several))"),
    ("past", rf"\b{_WHOSE} past {_CHANGEABLE}"),
    ("back", r"\bback (?:then|when)\b"),
    (
        "back",
        (
            r"(?<!get )(?<!got )(?<!come )(?<!came )\bback (?:in|at|on|around) "
            rf"{_DATED}"
        ),
    ),
    ("then", r"\b(?:by|until|till|up to) then\b"),
    (
        "while time long",
        r"\b(?:a while|some time|a long time|(?<!how )long) (?:ago|back)\b",
    ),
    ("time point", r"\bat one (?:time|point)\b"),
    (
        "time",
        rf"(?<!for )\bthe first time(?: {_WHO} (?!was|will)\w+|,| *[?.!]?$)",
    ),
    ("time", r"(?<!for )\bthe first time (?:a?round)\b"),
    ("first", rf"\b(?:i|we) first (?:asked|{_VERB})\b"),
    (
        "first",
        r"\b(?:my|our|the) first (?:update|message|mention|report|count|note)\b",
    ),
    (
        "pre",
        (
            r"\bpre-(?:upgrade|update|change|move|switch|promotion|surgery|pandemic|covid"
            r"|baby|diet|raise|merger|wedding)\b"
        ),
    ),
    ("ago", rf"\b(?:one|two|three|a few|[0-9]) (?!{_SPAN})\w+ ago\b"),
    (
        "until till",
        rf"\b(?:was|were|did)\b.{{0,80}}\b(?:until|till) (?:last |{_DATED})",
    ),
    (
        "before",
        (
            rf"^before (?!{_HABIT}){_SUBJECT} (?:had )?{_VERB}\b.{{0,80}}"
            r"\b(?:did|had|was|were)\b"
        ),
    ),
    ("still", rf"\b(?:when|while) {_WHO} (?:was |were )?still\b"),
    (
        "kid child boy girl teenager student",
        r"\bas a (?:little |young )?(?:kid|child|boy|girl|teenager|student)\b",
    ),
    (
        "started began joined",
        (
            r"^(?!how (?:old|long)\b).{0,80}\b(?:was|were|did|had)\b.{0,80}"
            rf"\bwhen {_WHO} (?:had )?(?:started|began|joined)\b"
        ),
    ),
    ("days", r"\bin (?:those|the early|the old|my early|my younger) days\b"),
    ("time point", r"\b(?:at|by) that (?:time|point)\b"),
    ("longer", r"\bno longer\b"),
    ("anymore more", r"(?:n't|\bnot)\b[^,.;]*\bany ?more\b"),
    ("earlier", rf"\b(?:my|his|her|their|our|an|the|\w+'s) earlier (?!{_TALK})\w"),
    (
        "earlier",
        (
            r"\b(?:was|were|did|had)\b(?!.{0,80}\b(?:you|much|even|wake|get up)\b)"
            rf"(?!.{{0,80}}\b{_SPAN} earlier).{{0,80}}\bearlier(?: on)? *[?.!]?$"
        ),
    ),
    ("earlier", r"\bearlier (?:in|on in) (?:life|my |his |her |their |our )"),
    ("earlier", r"\b(?:was|were|had)\b.{0,80}\bearlier in the \w+ *[?.!]?$"),
    ("old", rf"\b{_WHOSE} old {_CHANGEABLE}"),
    (
        "original",
        rf"\b(?:(?:my|our|his|her|their|\w+'s) original|original {_CHANGEABLE})",
    ),
    (
        "old older first",
        r"\b(?:old|older|first) (?:value|figure|count|tally|version|estimate|total)\b",
    ),
    ("recently", r"\b(?:until|till) recently\b"),
    ("until till", rf"\b(?:until|till) {_WHO} (?:\w+ )?{_CHANGED}"),
    (
        "from",
        (
            r"\b(?:switch|chang|mov|upgrad|migrat|transfer|convert|relocat)\w* "
            r"(?:\w+ ){0,3}from\b(?!.{0,80} to\b)"
        ),
    ),
    (
        "younger little kid child boy girl teenager student beginner",
        (
            rf"\bwhen {_WHO} (?:was|were) (?:younger|little|a (?:little )?(?:kid|child"
            r"|boy|girl|teenager|student|beginner))\b"
        ),
    ),
    ("before", r"\bbefore(?: (?:this|that|it|now|then)(?: one)?)? *[?.!,]?$"),
    ("before", rf"\bbefore (?:the|my|his|her|their|our|any|its|an?) {_NEWS}"),
    (
        "before",
        (
            rf"\bbefore {_WHO} (?:had |have |finally |recently |even |ever |was |were "
            rf"|got )*{_CHANGED}\b"
        ),
    ),
    ("before", rf"\bbefore (?=\w+ing\b){_CHANGED}"),
    (
        "before",
        (
            rf"\bhad {_SUBJECT} .{{0,80}}(?<!days)(?<!weeks)(?<!months)(?<!years)"
            rf" before (?!{_HABIT})"
        ),
    ),
    (
        "before",
        (
            r"^(?!how (?:long|old|many (?:days|weeks|months|years))\b).{0,80}"
            rf"\b(?:did|was|were|had)\b.{{0,80}} before {_SUBJECT} "
            r"(?:had |finally |first )?"
            rf"(?!went (?:to|home|out)\b|left for\b){_VERB}\b"
        ),
    ),
    (
        "before",
        (
            r"^(?:and |so )?(?:what|which|who|where)\b.{0,80}\b"
            rf"(?:did\b.{{0,80}}\b{_LIVED}\b.{{0,80}}|(?:was|were)\b.{{0,80}})(?<!day)(?<!week)"
            rf"(?<!weekend)(?<!month)(?<!year)(?<!night) before (?!{_HABIT})"
        ),
    ),
)
_BOTH: Final = (
    (
        "than",
        (
            r"\bthan\b.{0,80}\b(?:before|previous(?:ly)?|used to|earlier|in the past"
            r"|initially|originally|at first)\b"
        ),
    ),
    (
        "compare compared",
        (
            r"\bcompared? (?:to|with)\b.{0,80}\b(?:before|previous(?:ly)?|used to|past"
            r"|initial\w*|original\w*|old)\b"
        ),
    ),
    (
        "change changed changing evolved evolve",
        r"\bhow (?:ha[sd]|have|did)\b.{0,80}\b(?:chang|evol)",
    ),
    ("changed changes change", r"\bwhat (?:\w+ )?(?:has |have |had )?chang\w+"),
    ("after", r"\bbefore and after\b"),
    (
        "from",
        (
            r"\b(?:switch|chang|mov|upgrad|increas|decreas|gr[oe]w|rais)\w*\b"
            r".{0,80} from\b.{0,80} to\b"
        ),
    ),
)
_PRESENT: Final = (
    ("currently nowadays presently still lately recently newest latest current", ""),
    ("days", r"\bthese days\b"),
    ("moment present", r"\bat (?:the moment|present)\b"),
    ("now", r"\bnow\b(?! that\b)"),
    ("recent", r"\bmost recent\b"),
    ("date", r"\b(?:up[- ]to[- ]date|to date)\b"),
    ("far", r"\bso far\b"),
    ("today", r"\bas of today\b"),
)
_Rules = dict[str, list[tuple[int, LazyPattern]]]


def _by_cue() -> _Rules:
    """Return the rules of each cue: how strong they are (0 wins), and their pattern."""
    rules: _Rules = {}
    for rank, table in enumerate((_BOTH, _PAST, _PRESENT)):
        for cues, pattern in table:
            for cue in cues.split():
                rules.setdefault(cue, []).append((rank, LazyPattern(pattern)))
    return rules


_RULES: Final = _by_cue()
_CUES: Final = frozenset(_RULES)
_WORD: Final = re.compile(r"[a-z]+")
_STANDINGS: Final[tuple[Standing, ...]] = ("both", "past", "present", "any")


def asks_about(query: str) -> Standing:
    """Tell which version of a fact a question asks for.

    Only words count that speak of versions. A date ("in 2021") is read by
    `langchain_agentmemory.search.moments`. Where a question speaks of two times ("my
    previous job, before the current one"), it asks for the past.

    Args:
        query: A question in English or Chinese, simplified or traditional. Other
            languages are `"any"`.

    Returns:
        The version. It never raises.
    """
    text = query[:MOST_CHARACTERS].lower()
    if not text.isascii():
        if (found := asks_in_chinese(text)) != "any":
            return found
        text = text.replace("’", "'")
    cues = _CUES.intersection(_WORD.findall(text))
    if not cues:
        return "any"
    text = " ".join(text.split())
    ranks = (
        rank
        for cue in cues
        for rank, pattern in _RULES[cue]
        if pattern.search(text) is not None
    )
    return _STANDINGS[min(ranks, default=3)]
