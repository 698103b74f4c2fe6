"""Device signatures, one folder or file per module of torch; read, never imported."""
