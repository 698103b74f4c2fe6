"""itertools, so far as it hands on what it is given."""

class itertools:
    cycle: Elements
    islice: Elements
    takewhile: Unknown
    chain: Chained
    zip_longest: Zipped
    product: Zipped
    tee: Split
    count: Hosted
