"""A server of FastMCP with tools that ask its client questions."""

import mcp_types as types
from fastmcp import Context, FastMCP

import question_server

server = FastMCP("fastmcp")
TOOLS = question_server.tools(
    types,
    lambda context: context.request_context.protocol_version >= "2026",
    lambda context: context.session,
)
for tool in (*TOOLS, question_server.count):
    tool.__annotations__["context"] = Context
    server.tool(output_schema=None)(tool)


@server.resource("note://hello")
def hello() -> str:
    return "hi"


server.run(show_banner=False, log_level="warning")
