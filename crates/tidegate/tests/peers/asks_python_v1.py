"""A server of the Python SDK 1.x that asks its client something."""

from mcp import types
from mcp.server.fastmcp import Context, FastMCP

import asks

server = FastMCP("python-v1")
tools = asks.offer(types, lambda _: False, lambda context: context.session)
for tool in (*tools, asks.count):
    tool.__annotations__["context"] = Context
    server.tool(structured_output=False)(tool)


@server.resource("note://hello")
def hello() -> str:
    return "hi"


server.run()
