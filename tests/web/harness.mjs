// Studies, a server and a browser for the tests. BAPI names the program, CHROMIUM the browser.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {cpSync, mkdtempSync, renameSync, rmSync, writeFileSync} from 'node:fs';
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
  constructor(dir = mkdtempSync(join(tmpdir(), 'bapi-web-'))) {
    this.dir = dir;
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

  // A study with a made-up log of `trials` finished trials and, if asked for, one in the middle of its training.
  recorded(name, trials, epochs, unfinished = 0) {
    this.finished(name, {budget: '"3 epochs"', policy: 'random'});
    const made = spawnSync('python3', [join(here, 'large_study.py'), this.log(name), String(trials), String(epochs), String(unfinished)], {encoding: 'utf8'});
    if (made.status !== 0) throw new Error(made.stderr);
    return made.stdout.trim();
  }

  log(name) { return join(this.dir, name + '.bapi'); }

  // Goes on with that trial: [{spent, at}] of every report, `at` in seconds since the Unix epoch.
  async append(name, count, pause) {
    const child = spawn('python3', [join(here, 'append_reports.py'), this.log(name), String(count), String(pause)], {stdio: ['ignore', 'pipe', 'inherit']});
    this.children.push(child);
    let text = '';
    child.stdout.on('data', (part) => { text += part; });
    const code = await new Promise((done) => child.on('close', done));
    if (code !== 0) throw new Error('append_reports.py ended with ' + code);
    return text.trim().split('\n').map((line) => line.split(' ').map(Number)).map(([spent, at]) => ({spent, at}));
  }

  // A copy of a study whose log was changed behind its back.
  changed(name, as, sql) {
    cpSync(this.log(name), join(this.dir, 'copy'), {recursive: true});
    const made = spawnSync('python3', ['-c', 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.commit()', join(this.dir, 'copy', 'study.db'), sql + `; UPDATE study SET spec_json = json_set(spec_json, '$.name', '${as}')`], {encoding: 'utf8'});
    if (made.status !== 0) throw new Error(made.stderr);
    renameSync(join(this.dir, 'copy'), this.log(as));
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
      if (child.exitCode !== null || child.signalCode !== null) continue;
      try { process.kill(-child.pid, 'SIGKILL'); } catch { child.kill('SIGKILL'); }
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

export function browser(...flags) {
  return chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', env: {...process.env, FONTCONFIG_FILE: join(here, 'fonts.conf')},
                          args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...flags]});
}

// For `before` and `after` of a spec: a browser, and a server of the studies that `prepare` makes.
export async function stage(prepare, ...words) {
  const chrome = await browser(), place = new Place();
  try {
    await prepare(place);
    return {chrome, place, server: await place.serve('--port', '0', ...words)};
  } catch (error) {
    await leave({chrome, place});
    throw error;
  }
}

export async function leave({chrome, place}) {
  await chrome.close();
  place.remove();
}

// A page that remembers everything that went wrong on it.
export async function open(chrome, address, options = {}) {
  const context = await chrome.newContext({viewport: {width: options.width || 1280, height: options.height || 900}, colorScheme: options.scheme || 'light', offline: !!options.offline, hasTouch: !!options.touch, timezoneId: 'UTC', locale: 'en-GB'});
  context.setDefaultTimeout(PATIENCE);
  // PAGE_ASSETS names a folder whose app.js and style.css are shown instead of those of the build: to look at a change at once.
  const own = process.env.PAGE_ASSETS;
  if (own) for (const name of ['app.js', 'style.css']) await context.route('**/' + name, (route) => route.fulfill({path: join(own, name)}));
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

// What a person reads as a mistake of the program.
export async function assertSound(page, what) {
  const text = await page.locator('main').innerText();
  assert.ok(text.trim().length > 10, what + ' is empty');
  assert.doesNotMatch(text, /undefined|NaN|\[object|Infinity/, what);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, what + ' scrolls by ' + over + ' pixels');
  assert.deepEqual(page.wrong, [], what);
  return text;
}

export const shownNumber = (page, id) => page.locator('#' + id).getAttribute('title').then(Number);
