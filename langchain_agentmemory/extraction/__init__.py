"""Automatic memory: from conversation to operations, in the background.

`extractor` asks a model, `policies` decide, `graph` is the subgraph of both. `outbox`
keeps turns until they are extracted; its records are described in `mailbox`. `learner`
works off one mailbox, `worker` has the threads, `engine` is what the store sees.
"""
