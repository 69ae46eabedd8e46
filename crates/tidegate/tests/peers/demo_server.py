"""A small server of the Python SDK 1.x, for the gateway to have behind it."""

import os

from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("demo")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def process_id() -> int:
    """Says which process this is."""
    return os.getpid()


@server.tool()
async def count(to: int, context: Context) -> str:
    """Counts, and tells how far it is."""
    for number in range(1, to + 1):
        await context.report_progress(number, to)
    return "done"


@server.resource("note://hello")
def hello() -> str:
    """A greeting."""
    return "hi"


@server.resource("note://of/{name}")
def note(name: str) -> str:
    """A note of someone's."""
    return f"a note of {name}"


@server.resource("resource://system/health")
def foreign() -> str:
    """Something that is not this server's to offer."""
    return "stolen"


@server.prompt()
def greet(name: str) -> str:
    """Greets someone."""
    return f"Hello {name}"


server.run()
