// Serves the page of the host for MCP Apps, opens it in a Chromium, and uses two apps as a person would.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { main, require } from './peer.mjs';

const { chromium } = require('playwright-core');

const MODULES = join(process.env.TIDEGATE_TOOLS, 'node', 'node_modules');

/** What the modules of the page import, without a bundler. */
const IMPORTS = {
  '@modelcontextprotocol/client': '@modelcontextprotocol/client/dist/index.mjs',
  '@modelcontextprotocol/client/_shims': '@modelcontextprotocol/client/dist/shimsBrowser.mjs',
  '@modelcontextprotocol/core': '@modelcontextprotocol/core/dist/index.mjs',
  '@modelcontextprotocol/core/internal': '@modelcontextprotocol/core/dist/internal.mjs',
  '@modelcontextprotocol/ext-apps/app-bridge': '@modelcontextprotocol/ext-apps/dist/src/app-bridge.js',
  eventsource: 'eventsource/dist/index.js',
  'eventsource-parser': 'eventsource-parser/dist/index.js',
  'eventsource-parser/stream': 'eventsource-parser/dist/stream.js',
  'pkce-challenge': 'pkce-challenge/dist/index.browser.js',
  'zod/v4': 'zod/v4/index.js'
};

const imports = Object.fromEntries(Object.entries(IMPORTS).map(([name, path]) => [name, `/modules/${path}`]));
const PAGE = `<!doctype html><title>Apps</title><script type="importmap">${JSON.stringify({ imports })}</script>
  <body><script type="module" src="/apps_page.mjs"></script>`;

async function contentOf(path) {
  if (path === '/') return ['text/html', PAGE];
  if (path === '/apps_page.mjs') return ['text/javascript', await readFile(new URL('apps_page.mjs', import.meta.url))];
  if (!path.startsWith('/modules/')) return undefined;
  return ['text/javascript', await readFile(join(MODULES, normalize(path.slice('/modules'.length))))];
}

async function serveHost(address) {
  const server = createServer(async (request, response) => {
    const content = await contentOf(request.url).catch(() => undefined);
    response.writeHead(content ? 200 : 404, { 'Content-Type': content?.[0] ?? 'text/plain' });
    response.end(content?.[1]);
  });
  const [host, port] = address.split(':');
  await once(server.listen(Number(port), host), 'listening');
}

/** The same app, made twice: with and without a framework. Its button asks the server for the time. */
async function useClock(app) {
  const time = app.locator('code').first();
  const isTime = text => /^\d{4}-\d\d-\d\dT/.test(text);
  const first = await textOf(time, isTime);
  await app.getByRole('button', { name: 'Get Server Time' }).click();
  await textOf(time, text => isTime(text) && text !== first);
}

/** An app with a table of numbers, which the server computes for the chosen metric. */
async function useCohorts(app) {
  const cells = app.locator('body');
  const first = await textOf(cells, text => text.includes('%'));
  await app.getByRole('combobox').first().selectOption({ index: 1 });
  await textOf(cells, text => text !== first);
}

const OPERATIONS = { 'get-time': useClock, 'get-cohort-data': useCohorts };

/** The text of an element, as soon as it is as expected. */
async function textOf(locator, isExpected) {
  const deadline = Date.now() + 60_000;
  let text;
  while (Date.now() < deadline) {
    text = await locator.innerText();
    if (isExpected(text)) return text;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`unexpected text: ${text}`);
}

await main(async ({ url, era }) => {
  await serveHost(process.env.HOST_ADDRESS);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const used = {};
  // At the endpoint of all sources one page shows all apps; otherwise each source has a page of its own.
  for (const endpoint of process.env.ENDPOINTS.split(' ')) {
    const page = await browser.newPage();
    page.on('console', message => message.type() === 'error' && console.error(`${endpoint}: ${message.text()}`));
    page.on('pageerror', error => console.error(`${endpoint}: ${error}`));
    await page.goto(`http://${process.env.HOST_ADDRESS}/`);
    await page.waitForFunction(() => typeof connect === 'function');
    const tools = await page.evaluate(([at, mode]) => connect(at, mode), [new URL(endpoint, url).href, mode]);
    await Promise.all(tools.map((tool, index) => page.evaluate(([id, tool]) => show(id, tool), [`app${index}`, tool])));
    for (const [index, tool] of tools.entries()) {
      await OPERATIONS[tool.split('__').pop()](page.frameLocator(`#app${index}`));
    }
    used[endpoint] = tools;
  }
  await browser.close();
  return used;
});
