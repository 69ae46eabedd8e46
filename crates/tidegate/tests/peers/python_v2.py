"""A client made with the Python SDK 2.x, which supports both eras."""

import os

from mcp import Client, StdioServerParameters

from peer import WATCHED, main, walk


async def peer(options):
    legacy = options.era == "legacy"
    async with Client(target(options), mode="legacy" if legacy else "auto") as client:
        found = await walk(client)
        return {
            "protocol": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            **found,
            "subscribed": await (subscribe(client) if legacy else listen(client)),
        }


def target(options):
    if options.url:
        return options.url
    command, *args = options.stdio
    return StdioServerParameters(command=command, args=args, env=dict(os.environ))


async def listen(client):
    """Entering waits for the acknowledgement, which contains the accepted subscriptions."""
    async with client.listen(resource_subscriptions=[WATCHED]) as subscription:
        return WATCHED in (subscription.honored.resource_subscriptions or [])


async def subscribe(client):
    await client.subscribe_resource(WATCHED)
    await client.unsubscribe_resource(WATCHED)
    return True


main(peer)
