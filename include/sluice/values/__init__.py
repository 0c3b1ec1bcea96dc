"""Values as text, and rows of them."""
