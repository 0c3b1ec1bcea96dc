"""What a vendor offers to the stages: ports for masters, slaves, loads and comparisons."""
