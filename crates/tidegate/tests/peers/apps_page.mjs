// The page of a host for MCP Apps, made with the AppBridge of the official package. It connects to a server
// from the browser, and shows the app of a tool in a sandboxed frame.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const HOST = { name: 'apps-host', version: '1.0.0' };
const MIME_TYPE = 'text/html;profile=mcp-app';

/** Connects to a server. */
window.connect = async (url, mode) => {
  const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME_TYPE] } };
  const options = { capabilities: { extensions }, versionNegotiation: { mode } };
  const client = new Client(HOST, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  window.client = client;
  const { tools } = await client.listTools();
  return tools.filter(tool => tool._meta?.ui?.resourceUri).map(tool => tool.name);
};

/** Calls a tool and shows its app in a frame with this id. */
window.show = async (frameId, name) => {
  const client = window.client;
  const { tools } = await client.listTools();
  const { resourceUri } = tools.find(tool => tool.name === name)._meta.ui;
  const { contents } = await client.readResource({ uri: resourceUri });
  const [{ text, mimeType }] = contents;
  if (mimeType !== MIME_TYPE) throw new Error(`${resourceUri} has the type ${mimeType}`);
  const frame = document.createElement('iframe');
  frame.id = frameId;
  frame.setAttribute('sandbox', 'allow-scripts');
  document.body.append(frame);
  const bridge = new AppBridge(client, HOST, { serverTools: {}, serverResources: {}, logging: {} });
  const initialized = new Promise(resolve => bridge.addEventListener('initialized', resolve));
  const view = frame.contentWindow;
  await bridge.connect(new PostMessageTransport(view, view));
  // The bridge must listen before the scripts of the app run.
  frame.srcdoc = text;
  await initialized;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(await client.callTool({ name, arguments: {} }));
};
