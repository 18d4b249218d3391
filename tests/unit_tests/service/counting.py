"""Embedders that count what they are asked, fail when told to, or take their time."""

import threading

from langchain_core.embeddings import Embeddings


class Counting(Embeddings):
    """Counts the letters a to z; `calls` has (role, texts) of every request.

    Args:
        fails: Numbers of requests for documents that fail, from 0.
        refuses: A word that fails every request for documents that has it.
    """

    dims = 26

    def __init__(self, fails=(), refuses=None):
        self.calls = []
        self.fails = set(fails)
        self.refuses = refuses
        self.down = False
        self.lock = threading.Lock()

    def vector(self, text):
        return [text.lower().count(chr(97 + i)) + 1e-3 for i in range(self.dims)]

    def embed_documents(self, texts):
        with self.lock:
            number = sum(role == "document" for role, _ in self.calls)
            self.calls.append(("document", tuple(texts)))
        if self.down or number in self.fails:
            msg = "quota exceeded"
            raise RuntimeError(msg)
        if self.refuses and any(self.refuses in text for text in texts):
            msg = "text refused"
            raise ValueError(msg)
        return [self.vector(text) for text in texts]

    def embed_query(self, text):
        with self.lock:
            self.calls.append(("query", (text,)))
        if self.down:
            msg = "quota exceeded"
            raise RuntimeError(msg)
        return self.vector(text)

    def asked(self, role):
        """The texts of all requests of a role, in their order."""
        return [text for own, texts in self.calls if own == role for text in texts]

    def requests(self, role):
        """How many requests of a role there were."""
        return sum(own == role for own, _ in self.calls)
