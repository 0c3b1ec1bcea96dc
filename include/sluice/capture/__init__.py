"""DbResources of a source: installed, reconciled, removed, and the rights they need."""
