"""A server of FastMCP that asks its client something."""

import mcp_types as types
from fastmcp import Context, FastMCP

import asks

server = FastMCP("fastmcp")
tools = asks.offer(
    types,
    lambda context: context.request_context.protocol_version >= "2026",
    lambda context: context.session,
)
for tool in (*tools, asks.count):
    tool.__annotations__["context"] = Context
    server.tool(output_schema=None)(tool)


@server.resource("note://hello")
def hello() -> str:
    return "hi"


server.run(show_banner=False, log_level="warning")
