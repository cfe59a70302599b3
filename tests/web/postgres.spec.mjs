// Studies in a database: the page and its numbers are those of files. Skipped where there is no PostgreSQL.
// node --test postgres.spec.mjs
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {BAPI, assertSound, go, leave, open, shownNumber, stage, until} from './harness.mjs';

const PAGES = ['', '/curves', '/trials', '/plan', '/budget', '/decisions', '/params', '/model', '/t/0'];

let chrome, place, server, database = null, url = null, missing = false;

before(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'bapi-web-'));
  database = spawn('python3', [join(dirname(fileURLToPath(import.meta.url)), 'database.py'), BAPI, dir], {stdio: ['pipe', 'pipe', 'inherit']});
  database.ended = new Promise((done) => database.on('close', (code) => { rmSync(dir, {recursive: true, force: true}); done(code); }));
  const said = await new Promise((done) => { let text = ''; database.stdout.on('data', (part) => { text += part; if (text.includes('\n')) done(text.trim()); }); database.stdout.on('end', () => done(text.trim())); });
  if (!said.startsWith('postgresql:')) {
    assert.equal(await database.ended, 77, said);
    missing = said;
    return;
  }
  url = said;
  ({chrome, place, server} = await stage((made) => {
    made.study('done', {budget: '"60 epochs"'});
    made.bapi('run', 'done.yaml', '--storage', url, '-q');
    made.study('live', {delay: 0.3, budget: '600s'});
  }, url));
});

after(async () => {
  if (chrome) await leave({chrome, place});
  database.stdin.end();
  await database.ended;
});

const at = (name) => url + '#' + name;

test('a finished study has all pages, with the numbers of bapi status', async (t) => {
  if (missing) return t.skip(missing);
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'done', exact: true}).waitFor();
  const id = decodeURIComponent((await page.getByRole('link', {name: 'done', exact: true}).getAttribute('href')).replace('#/s/', ''));
  const status = place.json('status', at('done'));
  for (const part of PAGES) {
    await go(page, server, '/s/' + encodeURIComponent(id) + part);
    await assertSound(page, 'done' + part);
  }
  await go(page, server, '/s/' + encodeURIComponent(id));
  await page.waitForSelector('#best-value');
  assert.equal(await shownNumber(page, 'best-value'), status.best.value);
  assert.equal(await shownNumber(page, 'spent-value'), status.budget.spent);
  assert.equal(await shownNumber(page, 'total-value'), status.budget.total);
  await page.context().close();
});

test('a running one is live, takes a note, and is interrupted once its leader is gone', async (t) => {
  if (missing) return t.skip(missing);
  const page = await open(chrome, server.address);
  const began = Date.now() / 1000, run = place.start('run', 'live.yaml', '--storage', url, '-q');
  const link = page.getByRole('link', {name: 'live', exact: true});
  await link.waitFor();  // by itself
  await link.click();
  await page.waitForFunction(() => /running/.test(document.querySelector('.stateline')?.innerText) && document.querySelector('#spent-value'));
  const spent = await shownNumber(page, 'spent-value');
  await until(async () => (await shownNumber(page, 'spent-value')) > spent, 'more to be spent');
  const {controller} = await (await fetch(server.base + 'api/v1/studies/' + encodeURIComponent(decodeURIComponent((await page.evaluate(() => location.hash)).slice(4))), {headers: {Authorization: 'Bearer ' + server.token}})).json();
  assert.ok(controller.since >= began - 2 && controller.since <= Date.now() / 1000 + 2, JSON.stringify(controller));
  await page.click('#actions');
  await page.fill('#new-note', 'from the page');
  await page.getByRole('button', {name: 'add'}).click();
  await until(async () => (await page.locator('dialog .tell').last().innerText()) === 'done', 'the note to be taken');
  await page.keyboard.press('Escape');
  process.kill(-run.pid, 'SIGKILL');
  await page.waitForFunction(() => /Interrupted, nothing is lost/.test(document.querySelector('main').innerText));
  await assertSound(page, 'live');
  await page.context().close();
});
