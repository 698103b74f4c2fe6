"""Stands in for boto3, which is imported and not used: no snapshot goes to a bucket."""
