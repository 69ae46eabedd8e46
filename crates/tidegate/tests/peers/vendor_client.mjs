// A client made with the TypeScript SDK 2.x that uses the extension of an invented vendor: it sends a
// notification, and waits for the one that answers it.
import { main, require } from './peer.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { z } = require('zod');

const EXTENSION = 'com.example/tides';

await main(async ({ era, url }) => {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const extensions = { [EXTENSION]: {} };
  const options = { capabilities: { extensions }, versionNegotiation: { mode } };
  const client = new Client({ name: 'vendor', version: '1.0.0' }, options);
  const answered = new Promise(resolve => {
    const schemas = { params: z.looseObject({ level: z.number() }) };
    client.setNotificationHandler('notifications/tides/subscribed', schemas, params => resolve(params.level));
  });
  await client.connect(new StreamableHTTPClientTransport(url));
  const declared = client.getServerCapabilities().extensions[EXTENSION];
  if (era === 'modern') await client.listen({ [EXTENSION]: { unit: 'm' } });
  await client.notification({ method: 'notifications/tides/subscribe', params: { level: 7 } });
  const level = await answered;
  await client.close();
  return { declared, level };
});
