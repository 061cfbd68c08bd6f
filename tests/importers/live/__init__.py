"""Live sources, against real servers on this machine and against scripted ones that misbehave."""
