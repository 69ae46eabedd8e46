// Two clients made with the TypeScript SDK 2.x drive a browser at the same time: a modern one with all
// capabilities, and a legacy one. Each opens its own page, and every call must show that page.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { ANSWERS, CAPABILITIES } from './answering_client.mjs';
import { main, require } from './peer.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const CALLS_PER_CLIENT = 50;

/** A page with its name as the title and a counter. */
const page = name => `<!doctype html><title>${name}</title><h1>${name}</h1>
  <button onclick="count.textContent = Number(count.textContent) + 1">Add</button><p id="count">0</p>`;

async function servePages() {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(page(request.url.slice(1)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}

/** A client with its page. */
class Driver {
  clicks = 0;

  constructor(name, mode, capabilities = {}) {
    this.name = name;
    this.client = new Client({ name, version: '1.0.0' }, { capabilities, versionNegotiation: { mode } });
    if (capabilities.roots) {
      const roots = [{ uri: pathToFileURL(process.cwd()).href, name: 'home' }];
      const answers = { ...ANSWERS, 'roots/list': () => ({ roots }) };
      for (const [method, answer] of Object.entries(answers)) this.client.setRequestHandler(method, answer);
    }
  }

  async open(url, pages) {
    await this.client.connect(new StreamableHTTPClientTransport(url));
    await this.call('browser_navigate', { url: `${pages}/${this.name}` });
    const snapshot = await this.snapshot();
    this.button = /button "Add" \[ref=(\w+)\]/.exec(snapshot)[1];
  }

  async call(name, args) {
    const result = await this.client.callTool({ name, arguments: args });
    const text = result.content.map(block => block.text).join('\n');
    if (result.isError) throw new Error(`${this.name}: ${name}: ${text}`);
    return text;
  }

  /** Every third call changes the page; the others must show the change. */
  async step(number) {
    if (number % 3 === 0) {
      await this.call('browser_click', { element: 'the button', target: this.button, ref: this.button });
      this.clicks += 1;
    } else if (number % 3 === 1) {
      await this.snapshot();
    } else {
      const script = '() => `${document.title} ${document.getElementById("count").textContent}`';
      const text = await this.call('browser_evaluate', { function: script });
      this.expect(text, `"${this.name} ${this.clicks}"`);
    }
  }

  async snapshot() {
    const text = await this.call('browser_snapshot', {});
    this.expect(text, `heading "${this.name}"`);
    this.expect(text, `: "${this.clicks}"`);
    return text;
  }

  expect(text, part) {
    if (!text.includes(part)) throw new Error(`${this.name}: expected ${part} in:\n${text}`);
  }
}

await main(async ({ url }) => {
  const pages = await servePages();
  const modern = new Driver('modern', { pin: '2026-07-28' }, CAPABILITIES);
  const legacy = new Driver('legacy', 'legacy');
  await Promise.all([modern.open(url, pages), legacy.open(url, pages)]);
  for (let number = 0; number < CALLS_PER_CLIENT; number += 1) {
    const drivers = number % 2 === 0 ? [modern, legacy] : [legacy, modern];
    await Promise.all(drivers.map(driver => driver.step(number)));
  }
  // The test counts the processes before the clients are gone.
  console.error('all calls are done');
  await once(process.stdin.resume(), 'end');
  return { modern: modern.clicks, legacy: legacy.clicks };
});
