"""A client made with the Python SDK 1.x, which supports only the legacy era."""

import os

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from peer import WATCHED, main, walk


async def peer(options):
    if options.era == "modern":
        raise ValueError("the Python SDK 1.x has no modern era")
    async with transport(options) as streams:
        async with ClientSession(*streams[:2]) as session:
            server = await session.initialize()
            found = await walk(session)
            await session.subscribe_resource(WATCHED)
            await session.unsubscribe_resource(WATCHED)
    return {
        "protocol": server.protocolVersion,
        "server": server.serverInfo.name,
        **found,
        "subscribed": True,
    }


def transport(options):
    if options.url:
        return streamable_http_client(options.url)
    command, *args = options.stdio
    return stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))


main(peer)
