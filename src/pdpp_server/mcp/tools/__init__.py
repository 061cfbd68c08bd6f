"""The tools, in the order an agent meets them."""
