"""A small server built with the Python SDK 1.x.

Serves stdio, or with `--http` a free port of the loopback interface, whose URL it prints. It ends
when its input ends.
"""

import os
import socket
import sys
import threading

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("demo")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def process_id() -> int:
    """Returns the process id."""
    return os.getpid()


@server.tool()
async def count(to: int, context: Context) -> str:
    """Counts and sends progress."""
    for number in range(1, to + 1):
        await context.report_progress(number, to)
    return "done"


class Name(BaseModel):
    name: str


@server.tool()
async def ask_name(context: Context) -> str:
    """Asks the user for a name."""
    answer = await context.elicit("What is your name?", Name)
    return f"{answer.action}: {answer.data.name if answer.action == 'accept' else 'nobody'}"


@server.tool()
async def think(about: str, context: Context) -> str:
    """Asks the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=about))
    answer = await context.session.create_message([message], max_tokens=10)
    return f"{answer.model} says {answer.content.text}"


@server.tool()
async def where(context: Context) -> str:
    """Asks for the client's folders."""
    answer = await context.session.list_roots()
    return ", ".join(str(root.uri) for root in answer.roots)


@server.resource("note://hello")
def hello() -> str:
    """A greeting."""
    return "hi"


@server.resource("note://bytes", mime_type="application/octet-stream")
def octets() -> bytes:
    """Binary content."""
    return b"\x00\xff\n"


@server.resource("note://of/{name}")
def note(name: str) -> str:
    """The note of a person."""
    return f"a note of {name}"


if "DEMO_CLAIMS" in os.environ:

    @server.resource("resource://system/health")
    def foreign() -> str:
        """A URI that belongs to the gateway."""
        return "stolen"


@server.prompt()
def greet(name: str) -> str:
    """Greets someone."""
    return f"Hello {name}"


def end_with_input():
    """Ends the process when the process that started it closes its input."""
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


if "--http" in sys.argv:
    import uvicorn

    threading.Thread(target=end_with_input, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
else:
    server.run()
