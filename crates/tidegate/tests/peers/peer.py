"""Shared by the Python peers: arguments, the walk, and the JSON line they print."""

import argparse
import asyncio
import json
import sys
import traceback

RESOURCES = ["resource://system/health", "resource://system/models", "plugin://system/stats"]
WATCHED = RESOURCES[0]


def options():
    parser = argparse.ArgumentParser()
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--url")
    target.add_argument("--stdio", nargs=argparse.REMAINDER, metavar=("CMD", "ARG"))
    parser.add_argument("--era", choices=["legacy", "modern"])
    args = sys.argv[1:]
    # What follows --stdio belongs to the server's command, except for the era at its end.
    if args[-2:-1] == ["--era"]:
        args = args[-2:] + args[:-2]
    return parser.parse_args(args)


async def walk(client):
    """Lists, reads and calls what every Tidegate offers. Both SDKs have the same method names."""
    tools = await everything(client.list_tools, "tools")
    resources = await everything(client.list_resources, "resources")
    templates = await everything(client.list_resource_templates, "resourceTemplates")
    prompts = await everything(client.list_prompts, "prompts")
    read = {}
    for uri in RESOURCES:
        read[uri] = wire(await client.read_resource(uri))["contents"][0].get("mimeType")
    called = wire(await client.call_tool("system__health", {}))
    return {
        "tools": [tool["name"] for tool in tools],
        "resources": [resource["uri"] for resource in resources],
        "templates": len(templates),
        "prompts": len(prompts),
        "read": read,
        "health": overall_status(called["content"]),
    }


async def everything(list_page, key):
    items, cursor = [], None
    while True:
        page = wire(await list_page(cursor=cursor))
        items += page[key]
        cursor = page.get("nextCursor")
        if cursor is None:
            return items


def wire(result):
    """The JSON of a result: the two SDKs have different attribute names."""
    return result.model_dump(mode="json", by_alias=True)


def overall_status(content):
    text = next((block["text"] for block in content if block["type"] == "text"), "")
    try:
        return json.loads(text).get("overallStatus")
    except (AttributeError, ValueError):
        return None


def main(peer):
    """Runs the peer to its end: one JSON line and 0, or the error and 1."""
    try:
        print(json.dumps(asyncio.run(peer(options()))))
    except Exception:
        traceback.print_exc()
        sys.exit(1)
