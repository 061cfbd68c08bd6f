"""What attached files say: read in a process of its own, and put into the record that they belong to."""
