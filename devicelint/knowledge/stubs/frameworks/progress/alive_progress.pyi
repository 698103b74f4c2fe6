"""alive_progress: a bar goes over what it is given."""

class alive_progress:
    alive_it: Elements
