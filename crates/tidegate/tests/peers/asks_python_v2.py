"""A server of the Python SDK 2.x that asks its client something."""

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer

import asks

server = MCPServer("python-v2")
tools = asks.offer(
    types, lambda context: context.protocol_version >= "2026", lambda context: context.session
)
for tool in (*tools, asks.count):
    tool.__annotations__["context"] = Context
    server.tool(structured_output=False)(tool)


@server.resource("note://hello")
def hello() -> str:
    return "hi"


server.run()
