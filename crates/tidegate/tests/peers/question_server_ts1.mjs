// A server made with the TypeScript SDK 1.x with tools that ask its client questions.
import { FORM, RESULTS, SAMPLE, count, textResult } from './question_server.mjs';
import { require } from './peer.mjs';

const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');

const capabilities = { logging: {} };
const server = new McpServer({ name: 'ts1', version: '1.0.0' }, { capabilities });
const ask = {
  ask_form: () => server.server.elicitInput(FORM),
  ask_model: () => server.server.createMessage(SAMPLE),
  ask_roots: () => server.server.listRoots()
};
for (const [name, request] of Object.entries(ask)) {
  server.registerTool(name, {}, async () => textResult(RESULTS[name](await request())));
}
server.registerTool('count', {}, ({ _meta, sendNotification }) => {
  const log = (level, data) => server.server.sendLoggingMessage({ level, data });
  return count(_meta?.progressToken, sendNotification, log);
});
server.registerResource('hello', 'note://hello', {}, () => ({ contents: [{ uri: 'note://hello', text: 'hi' }] }));
await server.connect(new StdioServerTransport());
