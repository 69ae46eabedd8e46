"""A server built with the FastMCP package.

Serves stdio, or with `--http` a free port of the loopback interface, whose URL it prints. It ends
when its input ends.
"""

import asyncio
import os
import socket
import sys
import threading

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from fastmcp.utilities.types import Image
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult, ResourceLink
from pydantic import BaseModel

server = FastMCP("harbour", version="1.2.3", instructions="Ask for the tide before you sail.")

PORTS = {"dover": 6.8, "brest": 7.4, "saint-malo": 12.2}
DOT = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f"
    b"\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\xa75\x81\x84\x00\x00"
    b"\x00\x00IEND\xaeB`\x82"
)


class Tide(BaseModel):
    port: str
    range: float
    neap: bool = False


@server.tool(annotations={"readOnlyHint": True}, tags={"sea"})
def tide(port: str) -> Tide:
    """Returns the tidal range at a port."""
    if port not in PORTS:
        raise ToolError(f"unknown port {port}")
    return Tide(port=port, range=PORTS[port])


@server.tool
def depth(soundings: list[float]) -> float:
    """Returns the smallest depth, which is not a JSON object."""
    return min(soundings)


@server.tool
def chart() -> list:
    """Returns an image, a resource link and text."""
    link = ResourceLink(type="resource_link", uri="harbour://ports", name="ports")
    return [Image(data=DOT, format="png"), link, "here is the chart"]


@server.tool
def both() -> ToolResult:
    """Returns text and structured content that differ, and metadata."""
    return ToolResult(content="high water", structured_content={"water": 1.50}, meta={"by": "eye"})


@server.tool
def broken() -> str:
    """Fails with an error whose message is secret."""
    raise RuntimeError("a secret of the server")


@server.tool
async def load(crates: int, context: Context) -> str:
    """Sends progress and log messages."""
    for crate in range(1, crates + 1):
        await context.report_progress(crate, crates, f"crate {crate}")
        await context.info(f"loaded crate {crate}", logger_name="crane")
        await context.debug("the hook is free")
    return f"{crates} crates"


class Name(BaseModel):
    name: str


@server.tool
async def christen(context: Context) -> str | InputRequiredResult:
    """Asks for a name: with a request during the call, or with a result that requires input."""
    if context.request_context.protocol_version < "2026":
        answer = await context.elicit("What shall she be called?", Name)
        return f"{answer.action}: {answer.data.name if answer.action == 'accept' else 'nobody'}"
    answers = context.input_responses
    if answers is None:
        schema = Name.model_json_schema()
        params = ElicitRequestFormParams(
            message="What shall she be called?", requested_schema=schema
        )
        question = ElicitRequest(method="elicitation/create", params=params)
        return InputRequiredResult(input_requests={"name": question}, request_state="at the slip")
    answer = answers["name"]
    return f"{answer.action}: {answer.content['name']} {context.request_state}"


@server.tool
async def hail(context: Context) -> str:
    """Asks with a request during the call, as most servers do."""
    answer = await context.elicit("Who goes there?", Name)
    return f"{answer.action}: {answer.data.name if answer.action == 'accept' else 'nobody'}"


@server.resource("harbour://ports", mime_type="application/json")
def ports() -> str:
    """Lists all ports."""
    return '{"dover": 6.80, "brest": 7.40, "saint-malo": 12.20}'


@server.resource("harbour://flag", mime_type="image/png")
def flag() -> bytes:
    """Binary content."""
    return DOT


@server.resource("harbour://tides/{port}", mime_type="text/plain")
def tides(port: str) -> str:
    """The tide at a port."""
    return f"{port} falls {PORTS[port]} m"


@server.resource("harbour://log/{year}/{page*}{?lines}")
def log(year: int, page: str, lines: int = 2) -> str:
    """Lines of a page of the log."""
    return f"{page} of {year}, {lines} lines"


@server.prompt
def voyage(start: str, end: str = "brest") -> str:
    """Plans a voyage."""
    return f"Plan a voyage from {start} to {end}."


@server.prompt
def greet() -> str:
    """Greets the crew."""
    return "Ahoy."


@server.completion
def complete(reference, argument, context):
    """Completes ports, without those that were chosen before."""
    chosen = (context.arguments or {}).values() if context else ()
    known = {"port": PORTS, "start": PORTS, "end": PORTS, "year": ["1912"], "page": ["log/1"]}
    values = known.get(argument.name, [])
    return [value for value in values if value.startswith(argument.value) and value not in chosen]


def end_with_input():
    """Ends the process when the process that started it closes its input."""
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


if "--http" in sys.argv:
    threading.Thread(target=end_with_input, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    serve = server.run_http_async(show_banner=False, log_level="warning", sockets=[listener])
else:
    serve = server.run_stdio_async(show_banner=False, log_level="warning")
asyncio.run(serve)
