"""A client made with the Python SDK 2.x that a server can ask something."""

import mcp_types as types
from mcp import Client

from asked import answers, play
from peer import main


async def peer(options):
    mode = "legacy" if options.era == "legacy" else "auto"
    async with Client(options.url, mode=mode, **answers(types)) as client:
        return await play(client)


main(peer)
