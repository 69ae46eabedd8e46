// What the two TypeScript servers ask their client.

export const FORM = {
  message: 'What is your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
};
export const SAMPLE = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 10
};

/** What of an answer the server says, by the tool that asked. */
export const SAID = {
  ask_form: answer => answer.content.name,
  ask_model: answer => answer.content.text,
  ask_roots: answer => answer.roots[0].uri
};

export const says = text => ({ content: [{ type: 'text', text }] });

/** Tells how far it is, and what it does. */
export async function count(progressToken, notify, log) {
  for (const progress of [1, 2, 3]) {
    const params = { progressToken, progress, total: 3 };
    if (progressToken !== undefined) await notify({ method: 'notifications/progress', params });
  }
  await log('info', 'counted');
  await log('debug', 'nobody wants to hear this');
  return says('done');
}
