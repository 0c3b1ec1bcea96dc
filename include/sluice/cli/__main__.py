"""`python -m sluice.cli`, which the launcher `./sluice` runs."""

import sys

from sluice.cli.parser import main

sys.exit(main())
