// Answers of the TypeScript clients to questions, and the tools they call.

export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

const ROOTS = [{ uri: 'file:///home/ada', name: 'home' }];
const USED = { type: 'tool_use', id: 'u1', name: 'look_up', input: { word: 'a' } };

/** Answers by the method of the question. */
export const ANSWERS = {
  'elicitation/create': ({ params }) =>
    params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'ada' } },
  'sampling/createMessage': ({ params }) =>
    params.tools
      ? { role: 'assistant', model: 'm', content: [USED], stopReason: 'toolUse' }
      : { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } },
  'roots/list': () => ({ roots: ROOTS })
};

/** Calls each tool; returns the texts of the results, which contain the answers. */
export async function run(call) {
  const progress = [];
  const answers = {};
  await call('test_tool_with_progress', { onprogress: step => progress.push(step.progress) });
  answers.progress = progress;
  for (const tool of ['ask_form', 'ask_page', 'ask_two', 'ask_model', 'ask_model_with_tools', 'ask_roots']) {
    const result = await call(tool);
    answers[tool] = result.isError ? { failed: result.content[0].text } : JSON.parse(result.content[0].text);
  }
  return answers;
}
