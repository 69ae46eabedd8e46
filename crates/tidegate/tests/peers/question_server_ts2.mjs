// A server made with the TypeScript SDK 2.x with tools that ask its client questions. The SDK
// asks in the form of the client's era.
import { FORM, RESULTS, SAMPLE, count, textResult } from './question_server.mjs';
import { require } from './peer.mjs';

const { McpServer, inputRequired } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');

const requests = {
  ask_form: () => inputRequired.elicit(FORM),
  ask_model: () => inputRequired.createMessage(SAMPLE),
  ask_roots: () => inputRequired.listRoots()
};

serveStdio(() => {
  const server = new McpServer({ name: 'ts2', version: '1.0.0' }, { capabilities: { logging: {} } });
  for (const [name, request] of Object.entries(requests)) {
    server.registerTool(name, {}, context => {
      const answer = context.mcpReq.inputResponses?.[name];
      return answer ? textResult(RESULTS[name](answer)) : inputRequired({ inputRequests: { [name]: request() } });
    });
  }
  server.registerTool('count', {}, ({ mcpReq }) => count(mcpReq._meta?.progressToken, mcpReq.notify, mcpReq.log));
  server.registerResource('hello', 'note://hello', {}, () => ({ contents: [{ uri: 'note://hello', text: 'hi' }] }));
  return server;
});
