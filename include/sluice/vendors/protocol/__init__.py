"""The interface of vendors: ports for masters, slaves, loads and comparisons."""
