"""What is kept. Takes permitted queries, returns values; knows no HTTP and no tokens in the clear."""
