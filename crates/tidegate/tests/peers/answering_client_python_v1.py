"""A client made with the Python SDK 1.x that answers questions."""

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from answering_client import callbacks, run
from peer import main


async def peer(options):
    async with streamable_http_client(options.url) as streams:
        async with ClientSession(*streams[:2], **callbacks(types)) as session:
            await session.initialize()
            return await run(session)


main(peer)
