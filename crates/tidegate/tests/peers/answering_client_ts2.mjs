// A client made with the TypeScript SDK 2.x that answers questions.
import { ANSWERS, CAPABILITIES, run } from './answering_client.mjs';
import { main, require } from './peer.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

await main(async ({ era = 'modern', url }) => {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const options = { capabilities: CAPABILITIES, versionNegotiation: { mode } };
  const client = new Client({ name: 'ts2', version: '1.0.0' }, options);
  for (const [method, answer] of Object.entries(ANSWERS)) client.setRequestHandler(method, answer);
  await client.connect(new StreamableHTTPClientTransport(url));
  const answers = await run((name, more) => client.callTool({ name, arguments: {} }, more));
  await client.close();
  return answers;
});
