"""The hub: what lies there is published for every machine."""

class huggingface_hub:
    hf_hub_download: Download
    hf_hub_url: Download
    cached_download: Download
    snapshot_download: Download
