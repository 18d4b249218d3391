"""`python -m benchmarks` is the storage benchmark: what `make bench` runs."""

import sys

from benchmarks.storage.__main__ import main

sys.exit(main())
