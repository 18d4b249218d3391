"""Words that say how a question is asked, not what it is about.

The default ranking drops them from queries, never from documents. On the LoCoMo
development half that raised recall@10 from 56.6 to 63.3; some of the English ones were
added after seeing its most frequent query words.
"""

from typing import Final

ENGLISH: Final = frozenset(
    """
    what when where who whom whose which why how
    do does did done doing is are am was were be been being has have had having
    will would can could shall should may might must
    a an the and or but if than then so as of in on at to for with from by about into
    i me my mine myself you your yours yourself he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
    this that these those there here
    don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn cannot
    mustn needn mightn shan ain ought whats whos wheres
    after again against all also any because before between both down during each few
    further just many more most much no nor not now off only other out over own same
    some such through too under until up very while
    kind type sort mention describe tell please user
    current currently nowadays presently
    """.split()
)
"""Question, auxiliary and function words of English, lower-cased, unstemmed."""

CHINESE: Final = frozenset(
    """
    的 了 是 在 和 有 我 你 您 妳 他 她 它 牠 祂 这 那 都 也 就 不 会 到 说 对 吗 呢 吧
    啊 呀 么 嘛 哪 谁 几 何 啥 咋 怎 请 把 被 给 让 跟 与 及 或 而 但 很 要 能 可 着 过
    得 地 之 其 个 还 又
    什么 甚么 什么样 什么时候 什么地方 什么人 什么东西
    为什么 为何 为啥 干嘛
    怎么 怎样 怎么样 怎么办 怎么回事 如何 咋样 何时 何地 何人 何处 何种 几时
    哪里 哪儿 哪个 哪些 哪位 哪种 哪家 哪次 哪边 哪年 哪天 哪月 哪一 哪一个 哪一年
    哪一天
    哪一次 哪一种 哪一家 哪几 哪几个 谁的 几个 几点 几点钟 几号 几月 几年 几天 几岁 几次
    多少 多久 多长 多长时间 多大 多高 多远 多重 多快 多贵
    是否 有没有 是不是 会不会 能不能 要不要 请问 告诉
    一个 一些 一种 这个 那个 这些 那些 这样 那样
    我们 你们 妳们 他们 她们 它们 牠们 自己
    已经 还是 如果 因为 所以 然后 可以 没有 用户 现在 目前 如今 当前 眼下
    """.split()
)
"""Question and function words of Chinese, in simplified characters."""
