// A client made with the TypeScript SDK 1.x that answers questions.
import { ANSWERS, CAPABILITIES, run } from './answering_client.mjs';
import { main, require } from './peer.mjs';

const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const SCHEMAS = {
  'elicitation/create': types.ElicitRequestSchema,
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'roots/list': types.ListRootsRequestSchema
};

await main(async ({ url }) => {
  const client = new Client({ name: 'ts1', version: '1.0.0' }, { capabilities: CAPABILITIES });
  for (const [method, answer] of Object.entries(ANSWERS)) client.setRequestHandler(SCHEMAS[method], answer);
  await client.connect(new StreamableHTTPClientTransport(url));
  const answers = await run((name, options) => client.callTool({ name, arguments: {} }, undefined, options));
  await client.close();
  return answers;
});
