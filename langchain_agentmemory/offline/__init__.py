"""The offline chat model: rules instead of a language model, in English and Chinese."""

from langchain_agentmemory.offline.model import MODEL_NAME, OfflineChatModel

__all__ = ["MODEL_NAME", "OfflineChatModel"]
