"""The nouns: frozen values that every layer shares and that import nothing of ours."""
