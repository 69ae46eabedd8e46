// A client made with the TypeScript SDK 2.x, which supports both eras.
import { WATCHED, main, require, walk } from './peer.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

await main(async ({ era = 'modern', url, stdio }) => {
  const transport = url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport(stdio);
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'ts2', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const protocol = client.getNegotiatedProtocolVersion();
  const found = await walk(client);
  const subscribed = await (era === 'modern' ? listen(client) : subscribe(client));
  if (url && era === 'legacy') await transport.terminateSession();
  await client.close();
  return { protocol, ...found, subscribed };
});

// Resolves with the acknowledgement, which contains the accepted subscriptions.
async function listen(client) {
  const subscription = await client.listen({ resourceSubscriptions: [WATCHED] });
  await subscription.close();
  return subscription.honoredFilter.resourceSubscriptions?.includes(WATCHED) ?? false;
}

async function subscribe(client) {
  await client.subscribeResource({ uri: WATCHED });
  await client.unsubscribeResource({ uri: WATCHED });
  return true;
}
