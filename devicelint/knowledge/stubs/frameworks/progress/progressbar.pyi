"""progressbar2: a bar goes over what it is given."""

class progressbar:
    progressbar: Elements
