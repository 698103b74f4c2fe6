"""DGL: a graph is moved by what `.to` returns, with its data; datasets hold graphs on the CPU."""

class dgl:
    graph: Graph
    heterograph: Graph
    rand_graph: Graph
    batch: Graph
    from_networkx: Graph
    from_scipy: Graph
    add_self_loop: Beside
    remove_self_loop: Beside
    to_bidirected: Beside
    add_reverse_edges: Beside

    DGLGraph: Bundle

    class DGLGraph:
        to: Copied
        device: Device
        ndata: HeldByName
        edata: HeldByName
        srcdata: HeldByName
        dstdata: HeldByName

    # Of some, an item is a graph with a label.
    class data:
        anything: Unknown

    class nn:
        # They give several tensors, or a dict of them.
        HeteroGraphConv: Transformation
        EGATConv: Transformation
        EGNNConv: Transformation
        any_Conv: dgl.Layer_

    Layer_: Model

    class Layer_:
        __call__: Output
