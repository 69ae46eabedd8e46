"""A server of the Python SDK 2.x with tools that ask its client questions."""

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer

import question_server

server = MCPServer("python-v2")
TOOLS = question_server.tools(
    types, lambda context: context.protocol_version >= "2026", lambda context: context.session
)
for tool in (*TOOLS, question_server.count):
    tool.__annotations__["context"] = Context
    server.tool(structured_output=False)(tool)


@server.resource("note://hello")
def hello() -> str:
    return "hi"


server.run()
