"""Bringing memories in from files, and taking them out.

Readers turn a file into dated `Statement`s without touching a store; importing writes
them through the verbs of a store. Exporting writes our JSON Lines.
"""

from langchain_agentmemory.transfer.importing import (
    Imported,
    export_entries,
    import_statements,
)
from langchain_agentmemory.transfer.json_lines import (
    entry_to_record,
    record_to_entry,
    to_line,
)
from langchain_agentmemory.transfer.reading import (
    FORMATS,
    Format,
    Reading,
    read_file,
    read_text,
)
from langchain_agentmemory.transfer.statements import (
    Problem,
    Statement,
    split_statements,
)

__all__ = [
    "FORMATS",
    "Format",
    "Imported",
    "Problem",
    "Reading",
    "Statement",
    "entry_to_record",
    "export_entries",
    "import_statements",
    "read_file",
    "read_text",
    "record_to_entry",
    "split_statements",
    "to_line",
]
