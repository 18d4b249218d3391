"""Measuring an embedder once: probes are embedded, and what they say is kept.

The calibration is kept with the embedder, and in the store, so that the next process
need not embed the probes again. Whatever fails here fails nothing else: a search
without calibration reads its own cosines (`Calibration.from_pool`).
"""

import json
import logging
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Record,
    RecordFlags,
    RecordState,
    Write,
)
from langchain_agentmemory.search.calibration import Calibration
from langchain_agentmemory.search.probes import PROBES, VERSION
from langchain_agentmemory.service.hidden import CALIBRATIONS
from langchain_agentmemory.service.plans import Embed, Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from langchain_agentmemory.service.embedding import Embedder

logger = logging.getLogger(__name__)

AGAIN_AFTER: Final = 300.0
"""Seconds until an embedder that could not be measured is tried again."""

_SAME: Final = 0.999
"""The cosine from which a text has one vector, whether it is stored or asked."""

_STATEMENTS: Final = (
    *(probe.english for probe in PROBES),
    *(probe.chinese for probe in PROBES),
)
_TWINS: Final = (
    *(probe.english_twin for probe in PROBES),
    *(probe.chinese_twin for probe in PROBES),
)


def calibrated(embedder: "Embedder", backend: Backend) -> Plan[Calibration | None]:
    """Return what the cosines of an embedder mean, measuring it if nobody has.

    To be asked after the embedder has just answered: one that is down is then not
    asked in vain. The first time costs one read of the store and, where that finds
    nothing, one request for documents (64 short texts), one for a query, and one more
    for 32 queries if the model embeds questions differently. Callers of several
    threads, or of one loop, that come at the same time share these requests.

    Args:
        embedder: Which one.
        backend: Where calibrations are kept.

    Returns:
        `None` if it is not to be measured (`index={"calibrate": False}`), or could not
        be; it is then tried again after `AGAIN_AFTER` seconds.
    """
    if embedder.calibration is not None or not embedder.settings.calibrate:
        return embedder.calibration
    if time.monotonic() < embedder.calibrate_after:
        return None
    found = _read(embedder, backend)
    if found is None:
        found = yield from _measured()
        if found is None:
            embedder.calibrate_after = time.monotonic() + AGAIN_AFTER
            logger.info(
                "The embedder %s could not be measured: its scores go by the cosines "
                "of each search by itself.",
                embedder.name,
            )
            return None
        _write(embedder, backend, found)
    embedder.calibration = found
    return found


def _measured() -> Plan[Calibration | None]:
    """Embed the probes; `None` if any of them has no vector."""
    count = len(_STATEMENTS)
    vectors = yield Embed((*_STATEMENTS, *_TWINS), "document", probing=True)
    if not _usable(vectors):
        return None
    documents, queries = vectors[:count], vectors[count:]
    asked = yield Embed(_TWINS[:1], "query", probing=True)
    if not _usable(asked) or asked.shape[1] != documents.shape[1]:
        return None
    if float(asked[0] @ queries[0]) <= _SAME:
        queries = yield Embed(_TWINS, "query", probing=True)
        if not _usable(queries):
            return None
    half = len(PROBES)
    return Calibration.measured(
        other=(documents[:half], queries[:half]),
        han=(documents[half:], queries[half:]),
    )


def _usable(vectors: "NDArray[np.float32] | None") -> bool:
    return vectors is not None and not np.isnan(vectors).any()


def _key(embedder: "Embedder") -> str:
    return f"{embedder.fingerprint:016x}"


def _read(embedder: "Embedder", backend: Backend) -> Calibration | None:
    try:
        (record,) = backend.read(CALIBRATIONS, [_key(embedder)])
        if record is None or record.state is not RecordState.ACTIVE:
            return None
        value = json.loads(record.value)
        if value["probes"] != VERSION:
            return None
        return Calibration.from_json(value["calibration"])
    except Exception:  # a record of any shape, an engine in any state
        logger.debug("A stored calibration could not be read.", exc_info=True)
        return None


def _write(embedder: "Embedder", backend: Backend, found: Calibration) -> None:
    value = {"probes": VERSION, "model": embedder.name, "calibration": found.to_json()}
    record = Record(
        CALIBRATIONS,
        _key(embedder),
        json.dumps(value).encode(),
        flags=RecordFlags.UNINDEXED,
    )
    try:
        backend.commit(Batch([Write(record)]))
    except Exception:  # read-only, full, closed meanwhile
        logger.debug("A calibration could not be kept.", exc_info=True)
