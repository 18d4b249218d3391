"""Words that decide whether two statements agree, in English and Chinese.

Only closed classes are listed: negations, prepositions, auxiliaries, words that mark a
change or a doubt. What is not listed is compared as it stands.
"""

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- negation ----------------------------------------------------------------------

NEGATIONS: Final = _words(
    """
    not no never without cannot none nobody nothing nowhere neither nor hardly barely
    scarcely rarely seldom unable lack lacks lacking
    """
)
CONTRACTED_NOT: Final = re.compile(
    r"[a-z]+n't|(?:do|does|did|is|are|was|were|has|have|had|would|should|could)nt"
    r"|cant|wont|aint"
)
"""`don't`, and `dont` as it is typed in a hurry."""
JUST_NOT: Final = _words("not cannot")
"""Negations that differ from a contracted one in style only."""

HAN_NEGATIONS: Final = _words(
    """
    不 没 沒 未 无 無 非 勿 别 別 毋 否
    未曾 未能 未必 未有 未经 未經 从未 從未 尚未 并未 並未 仍未 还未 還未 从无 從無
    无法 無法 无需 無需 无须 無須 无权 無權 并无 並無 毫无 毫無 并非 並非 绝非 絕非
    决非 決非 切勿 请勿 請勿
    从不 從不 从没 從沒 并不 並不 并没 並沒 决不 決不 绝不 絕不 毫不 永不 再不 再没
    再沒 还没 還沒 还不 還不 都不 都没 都沒 也不 也没 也沒 就不 拒绝 拒絕
    """
)
HAN_NEGATING: Final = "不没沒"
"""A word that begins with one of these is a negation unless it is listed below."""
NO_NEGATIONS: Final = _words(
    """
    不过 不過 不错 不錯 不少 不仅 不僅 不但 不同 不断 不斷 不管 不论 不論 不久 不止
    不光 不妨 不禁 不料 不愧 不凡 不朽 不二 不锈钢 不鏽鋼 不锈 不丹 不单 不單 不只
    不得不 不已 不时 不時 不由得 不言 不悔 不惑 不惜 不群 不韦 不韋 不周山 不动产
    不動產 不倒翁 不夜城 不等 不一 不如 不外乎 不约而同 不約而同 不可思议 不可思議
    不亦乐乎 不亦樂乎 不可或缺
    没准 沒准 没收 沒收 没落 沒落 没入 沒入 没药 沒藥
    差不多 对不起 對不起 了不起 恨不得 巴不得 忍不住 禁不住 说不定 說不定 免不了
    少不了 冷不防 动不动 動不動 时不时 時不時 要不要
    """
)
HAN_COMPLEMENT: Final = re.compile(r"(.)不(?!\1).")
"""`看不到`, `来不及`: cannot. `是不是` asks."""
LONG_RUN: Final = 5
"""A CJK word this long is a run that no dictionary has cut: it is looked into."""
HAN_NEGATION_INSIDE: Final = re.compile(
    r"从未|從未|尚未|未曾|无法|無法|并非|並非|不再|没有|沒有|不是|不|没|沒"
)

# --- change, doubt, restriction ------------------------------------------------------

TURNS: Final = _words(
    """
    now nowadays currently instead change changes changed changing formerly previously
    former ex once anymore longer stop stops stopped quit quits cancel cancelled
    canceled ended ends retired resigned resumed switched becomes became
    maybe perhaps possibly probably might supposedly allegedly reportedly would
    wants want wanted plans plan planned hopes hope hoped wishes wish considering
    considers if unless except excluding only just but although though despite however
    or either rather than less fewer few almost nearly seems pretends pretended fails
    failed refuses refused avoids denies denied
    """
)
USED_TO: Final = re.compile(r"\bused to\b")
HAN_TURNS: Final = re.compile(
    r"现在|現在|目前|如今|不再|改为|改為|改成|变成|變成|变为|變為|而是|曾经|曾經|以前|"
    r"原来|原來|从前|從前|之前|停止|取消|暂停|暫停|换成|換成|戒掉|戒了|辞职|辭職|退休|"
    r"搬到|可能|也许|也許|或许|或許|大概|大约|大約|打算|想要|希望|计划|計劃|如果|除非|"
    r"除了|仅|僅|几乎|幾乎|差点|差點|但是|可是|不过|不過|然而|或者|还是|還是|至少|至多|"
    r"最多|最少|不到|超过|超過|以上|以下|以内|以內|左右|据说|據說|似乎|假装|假裝|"
    r"(?<![0-9〇零一二三四五六七八九十百千几幾两兩这這那哪每])[只隻]|"
    r"曾(?!经|經)|但(?!是)|或(?!者|许|許)"
)

# --- relations ---------------------------------------------------------------------

DIRECTIONS: Final = _words(
    """
    to from with without at in on of for by into onto out up down off about against
    over under between among before after since until till during toward towards upon
    near behind beside beyond via per like as inside outside through across within
    around above below along except than
    """
)
AUXILIARIES: Final = _words(
    """
    is are was were be been being am has have had do does did will would shall should
    can could must got get gets isn't aren't wasn't weren't
    """
)
PASSIVE: Final = _words("by 被 遭 由")
"""Who does it stands behind one of these."""
CONJUNCTIONS: Final = _words("and or but nor & plus while when because that which who")
DETERMINERS: Final = _words(
    """
    every each this that these those his her its their my your our some any all both
    another next last
    """
)
HAN_DIRECTIONS: Final = _words(
    """
    到 从 從 给 給 和 跟 与 與 同 向 对 對 往 离 離 由 被 把 让 讓 为 為 替 比 在 于 於
    叫 使 令 受 将 將 按 至 自
    """
)
HAN_FUNCTIONS: Final = HAN_DIRECTIONS | _words(
    "的 了 着 著 过 過 也 都 就 是 地 得 之 及 以及 或 或者 并 並 而"
)
HAN_OF: Final = _words("的 之 家 们 們")
"""What makes the word before it a part of another: `小李` → `小李的妹妹`."""

ALIENATING: Final = _words(
    "ex former vice deputy assistant acting interim fake toy mock pseudo future step "
    "前 副 准 準 假 伪 偽 代 原 旧 舊 仿"
)
"""What makes another thing of the word behind it: `deputy mayor`, `前女友`."""

# --- times and adverbs, which add detail wherever they stand --------------------------

ADVERBS: Final = _words(
    """
    together often always usually sometimes daily weekly monthly yearly too again twice
    today yesterday tomorrow tonight here there abroad outside inside upstairs
    downstairs downtown online overnight early late morning mornings afternoon
    afternoons evening evenings night nights noon midnight weekend weekends weekdays
    monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december spring summer autumn
    fall winter
    """
)
HAN_TIMES: Final = re.compile(
    r"[0-9〇零一二三四五六七八九十两兩]|上午|下午|中午|早上|早晨|清晨|凌晨|傍晚|晚上|夜里|"
    r"夜裡|深夜|周|週|星期|礼拜|禮拜|每|今|明|昨|春|夏|秋|冬|一起|经常|經常|常常|总是|總是"
)

# --- numbers -----------------------------------------------------------------------

NUMBER_WORDS: Final = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy eighty ninety hundred thousand million billion dozen half first second third
    once twice thrice
    """
)
SCALES: Final = _words("hundred thousand million billion dozen k")
HAN_NUMERALS: Final = "〇零一二三四五六七八九十百千万萬亿億两兩半"

# --- names -------------------------------------------------------------------------

SURNAMES: Final = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮"
    "于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟鍾汪田"
    "任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万段雷钱錢汤湯尹黎易"
    "常武乔喬贺賀赖賴龚龔文"
)
NICKNAMES: Final = "小老阿"
