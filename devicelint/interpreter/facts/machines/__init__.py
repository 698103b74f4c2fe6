"""Which machines a program is for: what it asks of them, what it chooses, what it needs."""
