"""What the offline model says, in English and Chinese."""

from collections.abc import Sequence
from typing import Final

from langchain_agentmemory.offline.language import Language
from langchain_agentmemory.offline.recall import Known

_SHOWN: Final = 5  # memories quoted in one answer

TEXTS: Final[dict[str, dict[Language, str]]] = {
    "intro": {
        "en": "I'm the offline model of langchain-agentmemory: a few simple rules, no "
        "language model behind me. I remember what you tell me about yourself and "
        "quote "
        "it back.",
        "zh": "我是 langchain-agentmemory 自带的离线模型：只有几条简单规则，"
        "背后没有大语言模型。"
        "我会记住你告诉我的关于你自己的事，并在你问起时引用你的原话。",
    },
    "try": {
        "en": 'Try: "My name is Anna", "I live in Rome", "Remember that my dog is '
        "called "
        'Rex", then "Where do I live?", "I moved to Paris", "Forget my name", or '
        '"What do '
        'you know about me?"',
        "zh": "可以试试：「我叫小明」「我住在北京」「记住我的狗叫旺财」，"
        "然后问「我住在哪里？」，"
        "再说「我搬到上海了」「忘记我的名字」，或者「你知道我的什么？」",
    },
    "hello": {"en": "Hello!", "zh": "你好！"},
    "thanks": {"en": "You're welcome.", "zh": "不客气。"},
    "ok": {"en": "OK.", "zh": "好的。"},
    "bye": {
        "en": "Goodbye! What you told me stays in memory.",
        "zh": "再见！你告诉我的事会留在记忆里。",
    },
    "other": {
        "en": "I can't do that: I'm an offline, rule-based model. I only keep and find "
        "what you tell me about yourself.",
        "zh": "这个我做不到：我是离线的规则模型，"
        "只会记住和查找你告诉我的关于你自己的事。",
    },
    "kept": {
        "en": 'No rule of mine understands that; it is kept as you said it: "{text}"',
        "zh": "我的规则看不懂这句话，但会按原话记下来：「{text}」",
    },
    "added": {"en": 'Noted: "{text}"', "zh": "记住了：「{text}」"},
    "before": {"en": "Until now I had: {quotes}", "zh": "之前记的是：{quotes}"},
    "updated": {"en": 'Updated: "{text}"', "zh": "已更新为：「{text}」"},
    "added_new": {
        "en": 'Noted: "{text}" (there was nothing earlier to correct)',
        "zh": "记住了：「{text}」（之前没有可更正的记忆）",
    },
    "nothing_to_replace": {
        "en": 'I have nothing in memory about "{old}", so there is nothing to correct.',
        "zh": "记忆里没有关于「{old}」的内容，没有可更正的。",
    },
    "no_add": {
        "en": 'I can\'t keep "{text}": this agent gave me no memory_add tool.',
        "zh": "我没法记住「{text}」：这个智能体没有给我 memory_add 工具。",
    },
    "no_update": {
        "en": 'I found "{old}", but this agent gave me no memory_update tool to '
        "correct it.",
        "zh": "找到了「{old}」，但这个智能体没有给我 memory_update 工具来更正它。",
    },
    "failed": {
        "en": 'That did not work ("{text}"): {error}',
        "zh": "没有成功（「{text}」）：{error}",
    },
    "forgot": {"en": 'Forgotten: "{old}"', "zh": "已忘记：「{old}」"},
    "left": {
        "en": 'I kept what else mentions it: {others}. Say "forget" with more of its '
        "words "
        "to remove it too.",
        "zh": "其他提到它的记忆保留：{others}。想一并删除，请用更多原话说「忘记……」。",
    },
    "no_delete": {
        "en": 'I found "{old}" [{id}], but this agent gave me no memory_delete tool. '
        "In the "
        'chat type /forget {short}; in Python call store.delete_memory(user, "{id}").',
        "zh": "找到了「{old}」[{id}]，但这个智能体没有给我 memory_delete 工具。"
        "在聊天里输入 "
        '/forget {short}；在 Python 里调用 store.delete_memory(user, "{id}")。',
    },
    "no_clear": {
        "en": "This agent gave me no memory_clear tool. Forget memories one by one "
        "(/memory "
        "lists them, /forget ID removes one), or call store.clear_memories(user).",
        "zh": "这个智能体没有给我 memory_clear 工具。可以逐条忘记（/memory 列出，"
        "/forget ID "
        "删除），或调用 store.clear_memories(user)。",
    },
    "cleared": {"en": "Everything is forgotten.", "zh": "已全部忘记。"},
    "nothing_to_forget": {
        "en": "I found nothing in memory about that, so there is nothing to forget.",
        "zh": "记忆里没有找到相关内容，没有可忘记的。",
    },
    "told": {"en": "You told me: {quotes}", "zh": "你说过：{quotes}"},
    "held": {"en": "In memory: {quotes}", "zh": "记忆里有：{quotes}"},
    "close": {
        "en": "I don't have exactly that in memory. The closest: {quotes}",
        "zh": "记忆里没有正好对应的内容，最接近的是：{quotes}",
    },
    "nothing": {
        "en": "I found nothing in memory about that. I'm an offline, rule-based "
        "model and "
        "only know what you have told me.",
        "zh": "记忆里没有找到相关内容。我是离线的规则模型，只知道你告诉过我的事。",
    },
    "nothing_yet": {
        "en": "I have no memories of you yet.",
        "zh": "我还没有关于你的记忆。",
    },
    "more": {"en": " (and {count} more)", "zh": "（另有 {count} 条）"},
}


def say(key: str, language: Language, **values: object) -> str:
    """Return one of the model's phrases."""
    # Values are put in as they are: memories may contain braces.
    return TEXTS[key][language].format(**values)


def quote(known: Known, language: Language) -> str:
    """Return a memory as a quotation, with the date of what it tells.

    Without one, the day on which it was said.
    """
    marks = "「{}」" if language == "zh" else '"{}"'
    when = known.date or known.said
    text = marks.format(known.text.rstrip("。.") if language == "zh" else known.text)
    if not when:
        return text
    return f"{text}（{when}）" if language == "zh" else f"{text} ({when})"


def quotes(found: Sequence[Known], language: Language) -> str:
    """Return memories as a list of quotations, the first few in full."""
    joint = "；" if language == "zh" else "; "
    shown = joint.join(quote(known, language) for known in found[:_SHOWN])
    hidden = len(found) - _SHOWN
    return shown + (say("more", language, count=hidden) if hidden > 0 else "")


def answer(found: Sequence[Known], language: Language) -> str:
    """Return an answer that quotes memories, the user's own words first."""
    own = [known for known in found if known.own_words]
    others = [known for known in found if not known.own_words]
    parts = [
        say(key, language, quotes=quotes(part, language))
        for key, part in (("told", own), ("held", others))
        if part
    ]
    return "\n".join(parts)
