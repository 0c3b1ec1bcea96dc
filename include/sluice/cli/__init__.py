"""The commands of `./sluice`: what a person types, and what is printed."""
