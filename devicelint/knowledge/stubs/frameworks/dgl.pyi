"""DGL: a graph is moved by what `.to` returns, with its data; datasets hold graphs on the CPU."""

class dgl:
    graph: Graph
    heterograph: Graph
    rand_graph: HostGraph
    rand_bipartite: HostGraph
    from_networkx: HostGraph
    from_scipy: HostGraph
    bipartite_from_scipy: HostGraph
    bipartite_from_networkx: HostGraph
    batch: GraphOf
    add_self_loop: Beside
    remove_self_loop: Beside
    to_bidirected: Beside
    to_simple: Beside
    to_homogeneous: Beside
    reverse: Beside
    add_reverse_edges: Beside

    DGLGraph: Bundle

    class DGLGraph:
        to: Copied
        device: Device
        ndata: HeldByName
        edata: HeldByName
        srcdata: HeldByName
        dstdata: HeldByName
        int: Beside
        long: Beside
        add_self_loop: Beside
        remove_self_loop: Beside
        local_var: Beside
        reverse: Beside
        formats: Beside
        in_degrees: Held
        out_degrees: Held
        nodes: Unknown
        edges: Unknown
        num_nodes: Hosted
        num_edges: Hosted
        number_of_nodes: Hosted
        number_of_edges: Hosted
        num_dst_nodes: Hosted
        num_src_nodes: Hosted

    # Of others, an item is a graph with a label, or has its data by type.
    class data:
        anything: Unknown
        CoraGraphDataset: GraphDataset
        CiteseerGraphDataset: GraphDataset
        PubmedGraphDataset: GraphDataset
        CoraFullDataset: GraphDataset
        AmazonCoBuyComputerDataset: GraphDataset
        AmazonCoBuyPhotoDataset: GraphDataset
        CoauthorCSDataset: GraphDataset
        CoauthorPhysicsDataset: GraphDataset
        RedditDataset: GraphDataset
        KarateClubDataset: GraphDataset
        PPIDataset: GraphDataset
        FlickrDataset: GraphDataset
        YelpDataset: GraphDataset
        WikiCSDataset: GraphDataset
        ChameleonDataset: GraphDataset
        CornellDataset: GraphDataset
        SquirrelDataset: GraphDataset
        TexasDataset: GraphDataset
        WisconsinDataset: GraphDataset
        ActorDataset: GraphDataset
        AmazonRatingsDataset: GraphDataset
        MinesweeperDataset: GraphDataset
        QuestionsDataset: GraphDataset
        RomanEmpireDataset: GraphDataset
        TolokersDataset: GraphDataset
        FB15kDataset: GraphDataset
        FB15k237Dataset: GraphDataset
        WN18Dataset: GraphDataset

    class dataloading:
        DataLoader: BlockLoader
        NodeDataLoader: BlockLoader
        EdgeDataLoader: BlockLoader

    class nn:
        # They give several tensors, or a dict of them.
        HeteroGraphConv: Transformation
        EGATConv: Transformation
        EGNNConv: Transformation
        GatedGCNConv: Transformation
        any_Conv: dgl.Layer_

    Layer_: Model

    class Layer_:
        __call__: Output
