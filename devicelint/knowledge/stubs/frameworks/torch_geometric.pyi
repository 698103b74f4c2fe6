"""PyG: `Data.to` moves in place and returns the object; datasets and loaders are on the CPU."""

class torch_geometric:
    class data:
        Data: torch_geometric.Data_
        HeteroData: torch_geometric.HeteroData_
        Batch: torch_geometric.Data_
        Dataset: Dataset
        InMemoryDataset: Dataset
        OnDiskDataset: Dataset
        DataLoader: GraphLoader
        any_Loader: GraphLoader
        any_Sampler: GraphLoader

    Data_: Bundle
    HeteroData_: Bundle

    class Data_:
        anything: Unknown
        x: Held
        y: Held
        y_index: Held
        edge_index: Held
        edge_attr: Held
        edge_weight: Held
        edge_type: Held
        pos: Held
        batch: Held
        ptr: Held
        z: Held
        train_mask: Held
        val_mask: Held
        test_mask: Held
        n_id: Held
        e_id: Held
        edge_label: Held
        edge_label_index: Held
        train_pos_edge_index: Held
        num_nodes: Hosted
        num_edges: Hosted
        num_graphs: Hosted
        num_features: Hosted
        num_node_features: Hosted
        num_edge_features: Hosted
        num_classes: Hosted
        batch_size: Hosted
        from_data_list: Unknown

    class HeteroData_:
        anything: Unknown

    class datasets:
        anything: GraphDataset

    class loader:
        DataLoader: GraphLoader
        any_Loader: GraphLoader
        any_Sampler: GraphLoader
        PrefetchLoader: Unknown
        DataListLoader: Unknown

    class transforms:
        anything: Transform
        ToDevice: Unknown
        Compose: torchvision.transforms.Compose_

    class nn:
        anything: Unknown
        MessagePassing: Module
        # They take and give dicts; one gives a matrix beside the tensor.
        HeteroConv: Transformation
        HGTConv: Transformation
        HANConv: Transformation
        PANConv: Transformation
        any_Conv: torch_geometric.Layer_
        any_Norm: torch_geometric.Layer_
        GCN: torch_geometric.Layer_
        GAT: torch_geometric.Layer_
        GIN: torch_geometric.Layer_
        GraphSAGE: torch_geometric.Layer_
        PNA: torch_geometric.Layer_
        MLP: torch_geometric.Layer_
        Linear: torch_geometric.Layer_
        Node2Vec: Model
        MetaPath2Vec: Model
        GAE: Transformation
        VGAE: Transformation
        global_add_pool: Beside
        global_mean_pool: Beside
        global_max_pool: Beside

        class conv:
            MessagePassing: Module

    # A Linear of unknown width has no weight yet, and lies on the CPU all the same.
    Layer_: Model

    class Layer_:
        __call__: Output
