"""tqdm: a bar goes over what it is given."""

class tqdm:
    tqdm: Elements
    tqdm_notebook: Elements
    trange: Hosted
    tnrange: Hosted

    class auto:
        tqdm: Elements
        trange: Hosted

    class std:
        tqdm: Elements
        trange: Hosted

    class notebook:
        tqdm: Elements
        tqdm_notebook: Elements
        trange: Hosted

    class autonotebook:
        tqdm: Elements
        trange: Hosted

    class asyncio:
        tqdm: Elements

    class rich:
        tqdm: Elements
        trange: Hosted

    class contrib:
        tenumerate: Enumerated
        tzip: Zipped
