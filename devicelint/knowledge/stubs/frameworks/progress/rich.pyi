"""rich: a bar goes over what it is given."""

class rich:
    class progress:
        track: Elements
