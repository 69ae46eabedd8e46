"""A client made with the Python SDK 2.x that answers questions."""

import mcp_types as types
from mcp import Client

from answering_client import callbacks, run
from peer import main


async def peer(options):
    mode = "legacy" if options.era == "legacy" else "auto"
    async with Client(options.url, mode=mode, **callbacks(types)) as client:
        return await run(client)


main(peer)
