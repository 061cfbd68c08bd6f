"""How everything else talks to a server: over the network, or to the app in this process."""
