"""Fresh interpreters as users start them: with compiled modules, as pip installs them.

Where Python is told to write no bytecode (as in many containers), a working copy of the
package would be compiled in every process, which takes longer than what is measured.
"""

import os
import tempfile
from pathlib import Path
from typing import Final

_NEVER_WRITE: Final = "PYTHONDONTWRITEBYTECODE"
_FOLDER: Final = Path(tempfile.gettempdir()) / "langchain-agentmemory-bytecode"


def environment_with_bytecode(folder: Path = _FOLDER) -> dict[str, str]:
    """Return this process's environment, in which bytecode is written and used.

    Args:
        folder: Where it is kept if this process may not write it beside the modules.
    """
    environment = dict(os.environ)
    if environment.pop(_NEVER_WRITE, ""):
        environment["PYTHONPYCACHEPREFIX"] = str(folder)
    return environment
