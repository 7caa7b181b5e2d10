"""Every word a person reads: domain values in, messages out."""
