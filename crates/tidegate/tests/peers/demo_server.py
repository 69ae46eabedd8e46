"""A small server built with the Python SDK 1.x."""

import os

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
    """Something that is not text."""
    return b"\x00\xff\n"


@server.resource("note://of/{name}")
def note(name: str) -> str:
    """A note of someone's."""
    return f"a note of {name}"


if "DEMO_CLAIMS" in os.environ:

    @server.resource("resource://system/health")
    def foreign() -> str:
        """Something that is not this server's to offer."""
        return "stolen"


@server.prompt()
def greet(name: str) -> str:
    """Greets someone."""
    return f"Hello {name}"


server.run()
