"""The public contract kit: proves that a backend keeps what `Backend` promises.

`ScriptedChatModel` is for tests of agents and extractors: a chat model that gives
prepared answers.

The author of a backend registers it in a test module and runs pytest:

```python
from langchain_agentmemory.testing import backend_contract

from my_package import MyBackend

test_my_backend = backend_contract(
    lambda folder, clock: MyBackend(folder / "data", clock=clock)
)
```

The function is called with an empty folder and with a clock, a callable that returns
microseconds since the Unix epoch; called again with the same folder, it opens the same
data once more. A server instead of a folder does as well, if each folder gets a place
of its own on it: derive a table or database name from `folder.name`, or from a
number. An engine that keeps its own time may ignore the clock: the rules that move it
are then skipped. So are rules about capabilities that the backend does not declare
(see `Requirement`).

Each rule becomes one test whose id names area and rule, such as
`limits-a_batch_over_the_limit_writes_nothing`. What the rule says is the docstring of
its function in `langchain_agentmemory.testing.spec`. Without pytest, `check_backend`
runs the same rules and returns verdicts.

The kit needs pytest for `backend_contract` only, which imports it when it is called.
"""

from langchain_agentmemory.testing.clock import ManualClock
from langchain_agentmemory.testing.contract import (
    Rule,
    Verdict,
    backend_contract,
    check_backend,
    rules,
)
from langchain_agentmemory.testing.harness import Harness, MakeBackend, Requirement
from langchain_agentmemory.testing.scripted import ScriptedChatModel, ScriptedRequest

__all__ = [
    "Harness",
    "MakeBackend",
    "ManualClock",
    "Requirement",
    "Rule",
    "ScriptedChatModel",
    "ScriptedRequest",
    "Verdict",
    "backend_contract",
    "check_backend",
    "rules",
]
