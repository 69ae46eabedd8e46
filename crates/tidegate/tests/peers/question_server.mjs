// Questions of the TypeScript servers.

export const FORM = {
  message: 'What is your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
};
export const SAMPLE = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 10
};

/** The part of an answer that the tool returns, by tool. */
export const RESULTS = {
  ask_form: answer => answer.content.name,
  ask_model: answer => answer.content.text,
  ask_roots: answer => answer.roots[0].uri
};

export const textResult = text => ({ content: [{ type: 'text', text }] });

/** Sends progress and log messages. */
export async function count(progressToken, notify, log) {
  for (const progress of [1, 2, 3]) {
    const params = { progressToken, progress, total: 3 };
    if (progressToken !== undefined) await notify({ method: 'notifications/progress', params });
  }
  await log('info', 'counted');
  await log('debug', 'below the log level');
  return textResult('done');
}
