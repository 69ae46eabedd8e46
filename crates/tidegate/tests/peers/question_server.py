"""Tools of the Python servers that ask their client questions: by a request during the call, or by a
result that requires input."""

from pydantic import BaseModel

QUESTION = "What is your name?"


class Name(BaseModel):
    name: str


async def count(context):
    """Sends progress and log messages."""
    for step in range(1, 4):
        await context.report_progress(step, 3)
    await context.info("counted")
    await context.debug("below the log level")
    return "done"


def tools(types, is_modern, session):
    """The tools, for a server of either era."""

    def answer_or_result(context, key, request):
        """The answer, or the result that requires it."""
        answers = context.input_responses
        if answers is not None:
            return answers[key], None
        return None, types.InputRequiredResult(input_requests={key: request}, request_state="here")

    async def ask_form(context):
        if not is_modern(context):
            answer = await context.elicit(QUESTION, Name)
            return answer.data.name
        schema = Name.model_json_schema()
        params = types.ElicitRequestFormParams(message=QUESTION, requested_schema=schema)
        answer, result = answer_or_result(context, "form", types.ElicitRequest(params=params))
        return result or answer.content["name"]

    async def ask_model(context):
        content = types.TextContent(type="text", text="What is the capital of France?")
        messages = [types.SamplingMessage(role="user", content=content)]
        if not is_modern(context):
            answer = await session(context).create_message(messages, max_tokens=10)
            return answer.content.text
        params = types.CreateMessageRequestParams(messages=messages, max_tokens=10)
        answer, result = answer_or_result(context, "model", types.CreateMessageRequest(params=params))
        return result or answer.content.text

    async def ask_roots(context):
        if not is_modern(context):
            answer = await session(context).list_roots()
            return str(answer.roots[0].uri)
        answer, result = answer_or_result(context, "roots", types.ListRootsRequest())
        return result or str(answer.roots[0].uri)

    return ask_form, ask_model, ask_roots
