"""Update policies: what an extractor may write."""

from langchain_agentmemory.policies.append_only import AppendOnly
from langchain_agentmemory.policies.base import Action, Decision, Decisions, Policy
from langchain_agentmemory.policies.merge_similar import MergeSimilar
from langchain_agentmemory.policies.preserve_history import PreserveHistory

__all__ = [
    "Action",
    "AppendOnly",
    "Decision",
    "Decisions",
    "MergeSimilar",
    "Policy",
    "PreserveHistory",
]
