"""What Sluice knows of itself: leases, the manifest, the state of each replication, who did what."""
