"""The reader, and the two ways to satisfy it: the server in this process, or any server over the network."""
