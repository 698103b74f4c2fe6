"""Files that somebody has put on a drive for others."""

class gdown:
    download: Download
    cached_download: Download
