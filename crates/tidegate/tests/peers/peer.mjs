// Shared by the TypeScript peers: arguments, the walk, and the JSON line they print.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const RESOURCES = ['resource://system/health', 'resource://system/models', 'plugin://system/stats'];
export const WATCHED = RESOURCES[0];

/** Loads from the packages that `cargo xtask tools` installed. */
export const require = createRequire(join(process.env.TIDEGATE_TOOLS, 'node', 'package.json'));

/** Reads `(--url URL | --stdio CMD ARG...) [--era legacy|modern]`. */
export function options(argv = process.argv.slice(2)) {
  const args = [...argv];
  const at = args.lastIndexOf('--era');
  const era = at < 0 ? undefined : args.splice(at, 2)[1];
  const [flag, first, ...rest] = args;
  if (flag === '--url' && first) return { era, url: new URL(first) };
  if (flag === '--stdio' && first) return { era, stdio: { command: first, args: rest, env: process.env } };
  throw new Error('usage: (--url URL | --stdio CMD ARG...) [--era legacy|modern]');
}

/** Lists, reads and calls what every Tidegate offers. Both SDKs have the same method names. */
export async function walk(client) {
  const tools = await all(page => client.listTools(page), 'tools');
  const resources = await all(page => client.listResources(page), 'resources');
  const templates = await all(page => client.listResourceTemplates(page), 'resourceTemplates');
  const prompts = await all(page => client.listPrompts(page), 'prompts');
  const read = {};
  for (const uri of RESOURCES) {
    const { contents } = await client.readResource({ uri });
    read[uri] = contents[0].mimeType;
  }
  const called = await client.callTool({ name: 'system__health', arguments: {} });
  return {
    server: client.getServerVersion()?.name,
    tools: tools.map(tool => tool.name),
    resources: resources.map(resource => resource.uri),
    templates: templates.length,
    prompts: prompts.length,
    read,
    health: overallStatus(called.content)
  };
}

async function all(list, key) {
  const items = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? {} : { cursor });
    items.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

function overallStatus(content) {
  try {
    return JSON.parse(content.find(block => block.type === 'text').text).overallStatus;
  } catch {
    return undefined;
  }
}

/** Runs the peer to its end: one JSON line and 0, or the error and 1. */
export async function main(peer) {
  try {
    console.log(JSON.stringify(await peer(options())));
    process.exit(0);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
