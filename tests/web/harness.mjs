// Studies, a server and a browser for the tests. BAPI names the program, CHROMIUM the browser.
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
export const BAPI = resolve(process.env.BAPI || join(here, '../../build/release/bapi'));
const TRAINER = join(here, 'trainer.py');
// How long a fact may take to become true: none of the tests measures time, and the machine may be busy.
export const PATIENCE = 300000;

export class Place {
  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), 'bapi-web-'));
    this.children = [];
  }

  bapi(...words) {
    const result = spawnSync(BAPI, words, {cwd: this.dir, encoding: 'utf8', maxBuffer: 1 << 28});
    if (result.status !== 0) throw new Error(words.join(' ') + ': ' + result.stderr);
    return result.stdout;
  }

  json(...words) { return JSON.parse(this.bapi(...words, '-f', 'json')); }

  study(name, {budget = '"150 epochs"', delay = 0, workers = 2, policy = 'bapi', fail = 0, epochs = 20} = {}) {
    writeFileSync(join(this.dir, name + '.yaml'), `
name: ${name}
command: [python3, "${TRAINER}", "\${lr}", "\${units}", "\${kind}", "${delay}", "${fail}"]
metric: {name: accuracy, goal: maximize}
budget: ${budget}
epochs: {min: 1, max: ${epochs}}
workers: ${workers}
seed: 3
grace: 1s
policy: ${policy}
parameters:
  lr: {min: 1.0e-4, max: 1, log: true}
  units: {min: 16, max: 256, type: int}
  kind: {values: [sgd, adam]}
`);
  }

  finished(name, options) {
    this.study(name, options);
    spawnSync(BAPI, ['run', name + '.yaml', '-q', '--keep-going'], {cwd: this.dir});
  }

  start(...words) {
    const child = spawn(BAPI, words, {cwd: this.dir, detached: true, stdio: ['ignore', 'pipe', 'pipe']});
    this.children.push(child);
    return child;
  }

  async serve(...words) {
    const child = this.start('dashboard', ...words);
    const address = await new Promise((done, failed) => {
      let text = '';
      child.stdout.on('data', (part) => { text += part; if (text.includes('\n')) done(text.split('\n')[0]); });
      child.on('exit', (code) => failed(new Error('the server ended with ' + code)));
    });
    return {child, address, base: address.replace(/#.*/, ''), token: (/token=(\w+)/.exec(address) || [])[1], port: Number(/:(\d+)\//.exec(address)[1])};
  }

  remove() {
    for (const child of this.children) {
      if (child.exitCode === null && child.signalCode === null) try { process.kill(-child.pid, 'SIGKILL'); } catch { /* gone */ }
    }
    rmSync(this.dir, {recursive: true, force: true});
  }
}

// A free port below those that the system gives to connections: a server that comes back finds it free again.
export async function lowPort() {
  for (;;) {
    const port = 20000 + Math.floor(10000 * Math.random());
    const free = await new Promise((done) => { const probe = createServer().once('error', () => done(false)).listen(port, '127.0.0.1', () => probe.close(() => done(true))); });
    if (free) return port;
  }
}

export function browser() {
  return chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
                          args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
}

// A page that remembers everything that went wrong on it.
export async function open(chrome, address, options = {}) {
  const context = await chrome.newContext({viewport: {width: options.width || 1280, height: options.height || 900}, colorScheme: options.scheme || 'light', offline: !!options.offline});
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.wrong = [];
  page.on('pageerror', (error) => page.wrong.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error' && !/net::ERR|Failed to load resource/.test(message.text())) page.wrong.push(message.text()); });
  // The library's own way to wait evaluates text, which the page's policy forbids.
  page.waitForFunction = (condition, argument, {timeout = PATIENCE} = {}) => until(() => page.evaluate(condition, argument).catch(() => false), String(condition).slice(0, 200), timeout / 1000);
  await page.goto(address);
  return page;
}

export const go = async (page, server, route) => {
  await page.goto(server.base + '#' + route);
  // The page says itself which route it shows, and when nothing of it is missing.
  await page.waitForFunction((path) => { const main = document.querySelector('main'); return main && main.dataset.path === path && !main.hasAttribute('aria-busy'); }, route.split('?')[0]);
};

export async function until(condition, what, seconds = PATIENCE / 1000) {
  const end = Date.now() + 1000 * seconds;
  for (let found; ;) {
    if ((found = await condition())) return found;
    if (Date.now() > end) throw new Error('waited too long for ' + what);
    await new Promise((resume) => setTimeout(resume, 50));
  }
}
