"""Answers of the Python clients to questions, and the tools they call."""

import json

from peer import wire

TOOLS = ["ask_form", "ask_page", "ask_two", "ask_model", "ask_model_with_tools", "ask_roots"]


def callbacks(types):
    """The SDK's callbacks, which answer each question."""

    async def elicit(_, params):
        if getattr(params, "mode", "form") == "url":
            return types.ElicitResult(action="accept")
        return types.ElicitResult(action="accept", content={"name": "ada"})

    async def sample(_, params):
        if params.tools:
            used = {"type": "tool_use", "id": "u1", "name": "look_up", "input": {"word": "a"}}
            content, reason = [used], "toolUse"
        else:
            content, reason = {"type": "text", "text": "Paris"}, None
        message = {"role": "assistant", "model": "m", "content": content, "stopReason": reason}
        return types.CreateMessageResultWithTools.model_validate(message)

    async def roots(_):
        root = {"uri": "file:///home/ada", "name": "home"}
        return types.ListRootsResult.model_validate({"roots": [root]})

    return {
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
        "sampling_capabilities": types.SamplingCapability(tools={}),
    }


async def run(client):
    """Calls each tool; returns the texts of the results, which contain the answers."""
    progress = []

    async def note(step, *_):
        progress.append(step)

    await client.call_tool("test_tool_with_progress", {}, progress_callback=note)
    answers = {"progress": progress}
    for tool in TOOLS:
        result = wire(await client.call_tool(tool, {}))
        text = result["content"][0]["text"]
        answers[tool] = {"failed": text} if result.get("isError") else json.loads(text)
    return answers
