"""A server of the Python SDK 1.x with tools that ask its client questions."""

from mcp import types
from mcp.server.fastmcp import Context, FastMCP

import question_server

server = FastMCP("python-v1")
TOOLS = question_server.tools(types, lambda _: False, lambda context: context.session)
for tool in (*TOOLS, question_server.count):
    tool.__annotations__["context"] = Context
    server.tool(structured_output=False)(tool)


@server.resource("note://hello")
def hello() -> str:
    return "hi"


server.run()
