"""What is kept of a secret: its digest, and nothing else."""

import hashlib


def token_digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
