"""The devices that there are, what lies on each, and what it costs."""
