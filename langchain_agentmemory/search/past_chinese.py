"""Whether a Chinese question asks for what holds now or for what held before.

之前, 以前 and 过去 are adverbs ("formerly") or follow what they count from (三天之前,
睡觉之前, 走过去); only the former speak of an earlier version. Simplified and
traditional characters are read alike.
"""

import re
from typing import Final, Literal

from langchain_agentmemory.search.scripts import LazyPattern

_VERSIONED: Final = (
    r"(?:住|地址|手机|電話|电话|号码|號碼|手機|公司|工作|单位|單位|学校|學校|职|職|房|家"
    r"|车|車|电脑|電腦|邮箱|郵箱|密码|密碼|名|昵称|暱稱|账号|帳號|计划|計劃|目标|目標"
    r"|预算|預算|版本|方案|习惯|習慣|时间|時間|老板|老闆|东家|東家|雇主|发型|髮型|套餐"
    r"|记录|記錄|成绩|成績|体重|體重|价|價|租|工资|工資|薪|团队|團隊|医生|醫生|银行|銀行)"
)
_MEASURES: Final = r"(?:[个個份任家台臺部辆輛款版间間所位条條套代届屆只隻双雙支张張])"
_PERIODS: Final = (
    r"(?:月|周|週|星期|禮拜|礼拜|世纪|世紀|季|学期|學期|小时|小時|钟|鐘|天|晚|夜|年|假)"
)
_COUNT: Final = (
    r"(?:[0-9〇零一二两兩三四五六七八九十百几幾数數半多][个個]?"
    r"(?:天|日|周|週|星期|禮拜|礼拜|月|年|小时|小時|分钟|分鐘|辈子)多?)"
)
_CHANGE: Final = (
    r"(?:搬|换|換|改|升|跳槽|转|轉|辞|辭|离[婚职开]|離[婚職開]|入职|入職|毕业|畢業|结婚|結婚|更新|调|調"
    r"|变|變|涨|漲|降|加薪|买|買|卖|賣|分手|退休|退租|装修|裝修|移民|创业|創業|失业"
    r"|失業|减肥|減肥|戒|开始|開始|当上|當上|来到|來到|成为|成為|加入|涨价|漲價|生孩子"
    r"|怀孕|懷孕|手术|手術|受伤|受傷|生病|住院|车祸|車禍|认识|認識|用上|接手|签|簽|定居|搬到|去现在|去現在)"
)
_HABIT: Final = (
    r"(?:睡|饭|飯|餐|吃|喝|出门|出門|出发|出發|上班|下班|起床|考|开会|開會|会议|會議"
    r"|运动|運動|跑步|上床|洗澡|天黑|天亮|截止|面试|面試|比赛|比賽|演出|旅行|旅游|旅遊"
    r"|出差|上课|上課|放学|放學|聚会|聚會|春节|春節|过年|過年|临|臨"
    r"|[日号號月年点點分秒周週]|[0-9])"
)
_DUTY: Final = r"[^，。？！]{0,2}(?:[要需得该該先别別]|应该|應該|必须|必須)"
_PAST: Final = LazyPattern(
    rf"""(?x)
      原先|原本|曾经|曾經|不曾|当初|當初|最初|起初|最早|刚开始|剛開始|开头|開頭|从前|從前
    | 早先|先前|早前|昔日|往日|往年|以往|前任|早年|小时候|小時候|年轻时|年輕時
    | 最开始|最開始|上一?次的?(?={_VERSIONED})
    | 早些时候|早些時候|早期|更早|当年|當年|前[些几幾]年
    | (?:头一次|頭一次|第一次)(?=[^，。？！]{{0,3}}[说說提记記数數报報])
    | [还還][在住用做是][^，。？！]{{1,10}}(?:时候|時候|时|時)
    | 一[开開]始(?![^，。？！]{{0,8}}就)
    | 原来(?!如此|是这样|你)|原來(?!如此|是這樣|你) | 本来(?!就)|本來(?!就)
    | 曾(?=[在任是用住有做去]) | 那时|那時|那会儿|那會兒|那个时候|那個時候|那阵子|那陣子
    | [当當]时(?=[住用在做叫是的])|[当當]時(?=[住用在做叫是的])
    | 不再|已经不|已經不
    | (?<![怀懷依仍照陈陳复復守破])[旧舊](?:的(?!金山)|{_VERSIONED})
    | 老(?:地址|号码|號碼|手机号|手機號|公司|单位|單位|东家|東家|住处|住處|房子)
    | 上一?{_MEASURES}(?!{_PERIODS}) | (?<![0-9〇零一二两兩三四五六七八九十])
      前一?{_MEASURES}(?!{_PERIODS})
    | 前(?:公司|雇主|东家|東家|单位|單位|老板|老闆|房东|房東)
    | {_CHANGE}[^，。？！,?!]{{0,10}}[之以]?前(?![天年面后後台往一]|{_DUTY})
    | (?:还|還)(?:没|沒|未)[^，。？！]{{1,10}}(?:时候|時候|之前)
    | 直到(?:最近|{_CHANGE})
    | 在?(?:现在|現在|目前|这|這)[^，。？！之以]{{0,6}}[之以]前
    | (?<![走跑开開飞飛送寄拿搬骑騎打发發转轉看翻传傳带帶赶趕穿划游坐滑推拉度熬挺])
      [过過]去(?!了|吧|\ ?[近这這]?[0-9一二两兩三四五六七八九十几幾半数數好]|完)
    """
)
_BEFORE: Final = re.compile(r"[之以]前")
_PRESENT: Final = LazyPattern(
    r"现在|現在|目前|如今|现今|現今|眼下|当前|當前|(?<![离離距])最近(?!的(?:地铁|医院|超市))"
    r"|近来|近來|近期|这阵子|這陣子|这段时间|這段時間|至今|仍|最新|现任|現任"
    r"|[还還](?=[在是住用])|当下|當下|[现現](?=[用住])"
)
_FORMER: Final = (
    r"(?:以前|之前|过去|過去|原来|原來|从前|從前|最初|当初|當初|上一?[个個次])"
)
_BOTH: Final = LazyPattern(
    rf"[比较較][^，。？！]{{0,3}}{_FORMER}"
    rf"|[和跟与與同][^，。？！]{{0,3}}{_FORMER}[^，。？！]{{0,6}}"
    r"(?:比|不同|不一样|不一樣|区别|區別|差)"
    r"|变化|變化|变了|變了|(?:怎么|怎麼|如何)[变變改]|前后对比|前後對比"
    r"|[从從][^，。？！]{1,12}[换換改变變搬升降涨漲减減][^，。？！]{0,2}[成到为為]"
)
_DUTY_AHEAD: Final = LazyPattern(_DUTY)
_CLAUSE: Final = re.compile(r"[，。？！；、,?!;\s]")
_EVENT: Final = LazyPattern(rf"(?:{_HABIT}|[去来來到回做看])[^，]{{0,3}}$|{_COUNT}$")


def asks_in_chinese(text: str) -> Literal["present", "past", "both", "any"]:
    """Tell which version of a fact a Chinese question asks for.

    Args:
        text: The question. Text of other scripts is `"any"`.

    Returns:
        See `langchain_agentmemory.search.past.Standing`.
    """
    if _BOTH.search(text):
        return "both"
    if _PAST.search(text) or _formerly(text):
        return "past"
    return "present" if _PRESENT.search(text) else "any"


def _formerly(text: str) -> bool:
    """Tell whether 之前 or 以前 is an adverb, not "before" something else."""
    for match in _BEFORE.finditer(text):
        clause = _CLAUSE.split(text[: match.start()])[-1]
        duty = _DUTY_AHEAD.match(text[match.end() :])
        if not duty and not _EVENT.search(clause):
            return True
    return False
