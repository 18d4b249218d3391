"""Small embedders whose answers can be foretold."""

import asyncio
import threading
import time

from langchain_core.embeddings import Embeddings


class Letters(Embeddings):
    """Counts the letters a to z, so texts of the same letters are the same."""

    dims = 26

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(text.lower().count(chr(97 + i))) + 1e-3 for i in range(26)]


class Slow(Letters):
    """Takes 600 ms for documents, and says when it has begun."""

    seconds = 0.6

    def __init__(self):
        self.begun = threading.Event()

    def embed_documents(self, texts):
        self.begun.set()
        time.sleep(self.seconds)
        return super().embed_documents(texts)

    async def aembed_documents(self, texts):
        self.begun.set()
        await asyncio.sleep(self.seconds)
        return super().embed_documents(texts)


def index(fields=None, embeddings=None, **options):
    """Return an `IndexConfig` over `Letters`."""
    config = {"dims": Letters.dims, "embed": embeddings or Letters(), **options}
    return {**config, "fields": fields} if fields else config
