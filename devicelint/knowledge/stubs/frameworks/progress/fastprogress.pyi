"""fastprogress: a bar goes over what it is given."""

class fastprogress:
    progress_bar: Elements
    master_bar: Elements

    class fastprogress:
        progress_bar: Elements
        master_bar: Elements
