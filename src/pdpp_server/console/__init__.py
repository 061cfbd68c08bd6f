"""The owner's pages: server-rendered, without JavaScript. They see the port and nothing below it."""
