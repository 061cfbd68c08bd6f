"""The kernel under the doors: threads, limits, hosts, request ids, access lines, metrics, answers to trouble."""
