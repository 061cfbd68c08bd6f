"""A personal data server that agents can read, exactly as far as the owner agreed."""
