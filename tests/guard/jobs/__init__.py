"""Small distributed programs, and what runs them."""
