// A client made with the TypeScript SDK 2.x that uses the source `memory` in either era.
import { main, require } from './peer.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const ENTRY = 'plugin://memory/entries/tea';

await main(async ({ era, url }) => {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const options = { versionNegotiation: { mode }, capabilities: { elicitation: {} } };
  const client = new Client({ name: 'memory', version: '1.0.0' }, options);
  let question;
  client.setRequestHandler('elicitation/create', request => {
    question = request.params.message;
    return { action: 'accept', content: { confirm: true } };
  });
  const updates = [];
  client.setNotificationHandler('notifications/resources/updated', note => void updates.push(note.params.uri));
  await client.connect(new StreamableHTTPClientTransport(url));
  await client.listTools();

  const call = async (name, args) => {
    const result = await client.callTool({ name: `memory__${name}`, arguments: args });
    if (result.isError) throw new Error(JSON.stringify(result));
    return result.structuredContent;
  };
  await call('store', { key: 'tea', value: 'black' });
  if (era === 'modern') await client.listen({ resourceSubscriptions: [ENTRY] });
  else await client.subscribeResource({ uri: ENTRY });
  const stored = await call('store', { key: 'tea', value: { kind: 'green', cups: 2 }, tags: ['drink'] });
  const retrieved = await call('retrieve', { key: 'tea' });
  const listed = await call('list', {});
  const found = await call('search', { query: 'drink' });
  const { contents } = await client.readResource({ uri: ENTRY });
  const ref = { type: 'ref/resource', uri: 'plugin://memory/entries/{key}' };
  const { completion } = await client.complete({ ref, argument: { name: 'key', value: 't' } });
  const context = await client.getPrompt({ name: 'memory/memory_context', arguments: {} });
  while (updates.length === 0) await new Promise(resolve => setTimeout(resolve, 20));
  const { cleared } = await call('clear', {});
  await client.close();
  return {
    stored: stored.uri,
    retrieved: retrieved.value,
    listed: listed.entries.map(entry => entry.key),
    found: found.matches.map(entry => entry.key),
    read: contents[0].mimeType,
    completed: completion.values,
    context: context.messages.length,
    asked: question,
    cleared,
    updated: updates[0]
  };
});
