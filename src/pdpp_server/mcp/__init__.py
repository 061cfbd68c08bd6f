"""The MCP adapter: tools over the port. It holds no data and decides no permission."""
