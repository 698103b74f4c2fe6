"""Files that somebody has published."""

class wget:
    download: Download
