// A client made with the TypeScript SDK 1.x, which supports only the legacy era.
import { WATCHED, main, require, walk } from './peer.mjs';

const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

await main(async ({ era, url, stdio }) => {
  if (era === 'modern') throw new Error('the TypeScript SDK 1.x has no modern era');
  const transport = url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport(stdio);
  const negotiated = recordVersion(transport);
  const client = new Client({ name: 'ts1', version: '1.0.0' });
  await client.connect(transport);
  const found = await walk(client);
  await client.subscribeResource({ uri: WATCHED });
  await client.unsubscribeResource({ uri: WATCHED });
  if (url) await transport.terminateSession();
  await client.close();
  return { protocol: negotiated(), ...found, subscribed: true };
});

// This SDK passes the negotiated version only to the transport.
function recordVersion(transport) {
  const set = transport.setProtocolVersion?.bind(transport);
  let version;
  transport.setProtocolVersion = value => {
    version = value;
    set?.(value);
  };
  return () => version;
}
