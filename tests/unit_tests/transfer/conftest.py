"""Writing files for the readers."""

import json

import pytest


@pytest.fixture
def written(tmp_path):
    """Write a value as JSON, or text as it is, and return the file."""

    def write(content, name="file.json"):
        file = tmp_path / name
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            file.write_text(text, encoding="utf-8")
        return file

    return write
