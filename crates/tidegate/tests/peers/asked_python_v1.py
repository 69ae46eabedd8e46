"""A client made with the Python SDK 1.x that a server can ask something."""

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from asked import answers, play
from peer import main


async def peer(options):
    async with streamable_http_client(options.url) as streams:
        async with ClientSession(*streams[:2], **answers(types)) as session:
            await session.initialize()
            return await play(session)


main(peer)
