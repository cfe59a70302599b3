// The dashboard in a real browser. `make test-web`, or node --test tests/web.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Place, browser, go, lowPort, open, until} from './harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = ['', '/curves', '/trials', '/plan', '/budget', '/decisions', '/params', '/model', '/t/0'];

let chrome, place, server;

before(async () => {
  chrome = await browser();
  place = new Place();
  place.finished('done');
  place.finished('broken', {fail: 0.5, policy: 'hyperband'});
  place.study('fresh', {delay: 60, budget: '600s'});
  server = await place.serve('--port', String(await lowPort()));
});

after(async () => {
  await chrome.close();
  place.remove();
});

const number = (page, id) => page.locator('#' + id).getAttribute('title').then(Number);

for (const width of [1280, 360]) {
  test(`the five questions are answered at ${width} px, with the numbers of bapi status`, async () => {
    const page = await open(chrome, server.address, {width});
    await go(page, server, '/s/done');
    const status = place.json('status', 'done');
    await page.waitForSelector('#best-value');
    assert.equal(await number(page, 'best-value'), status.best.value);
    assert.equal(await number(page, 'spent-value'), status.budget.spent);
    assert.equal(await number(page, 'total-value'), status.budget.total);
    const text = await page.locator('main').innerText();
    assert.match(text, /finished/);
    assert.match(text, new RegExp('trial ' + status.best.trial + ', epoch ' + status.best.epoch));
    assert.ok(text.includes(status.best.checkpoint));
    assert.match(text, /bapi resume done.bapi --budget/);
    await page.waitForFunction(() => /further trial|almost nothing|no affordable/.test(document.querySelector('#chart-outlook').innerText) || /expected \(80/.test(document.querySelector('#chart-outlook').innerText));
    for (const heading of ['Best', 'Budget', 'Outlook', 'Now']) assert.ok(await page.getByRole('heading', {name: heading, exact: true}).count(), heading);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  });
}

test('no page complains or scrolls sideways at 320 px, in any state of a study', async () => {
  const page = await open(chrome, server.address, {width: 320, height: 700});
  await go(page, server, '/');
  for (const study of ['done', 'broken']) {
    for (const part of PAGES) {
      await go(page, server, '/s/' + study + part);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, study + part + ' scrolls by ' + over);
      assert.equal(await page.locator('h1').count(), 1);
    }
  }
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test('axe-core finds nothing, light and dark, dialogs open', async () => {
  for (const scheme of ['light', 'dark']) {
    const page = await open(chrome, server.address, {scheme});
    await go(page, server, '/');
    const check = async (what) => {
      await page.evaluate(axe);
      const result = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
      assert.deepEqual(result.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).slice(0, 2).join(' | ')), [], what + ', ' + scheme);
    };
    await check('/');
    for (const part of PAGES) {
      await go(page, server, '/s/done' + part);
      await check(part);
    }
    await go(page, server, '/compare?s=done,broken');
    await page.waitForSelector('#chart-c-share');
    await check('compare');
    await go(page, server, '/s/done');
    for (const id of ['#help', '#actions']) {
      await page.click(id);
      await check(id);
      await page.keyboard.press('Escape');
    }
    await page.context().close();
  }
});

test('what a training program prints is shown and never obeyed', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done/t/0');
  await page.waitForFunction(() => /red/.test(document.querySelector('pre.log').innerText));
  const log = page.locator('pre.log');
  const text = await log.innerText();
  assert.match(text, /<img src=x onerror=alert\(1\)>/);
  assert.match(text, /⟪U\+202E⟫/);
  assert.match(text, /␀/);
  assert.equal(await log.locator('img, a').count(), 0);
  assert.equal(await log.locator('.ansi1').first().innerText(), 'red');
  const failed = place.json('trials', 'broken').find((t) => t.state === 'failed');
  await go(page, server, '/s/broken/t/' + failed.trial);
  await page.waitForFunction(() => /it failed/.test(document.querySelector('main').innerText));
  assert.equal(await page.locator('main b').count(), 0);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test('without the token there is a form for it, and nothing else', async () => {
  const page = await open(chrome, server.base);
  await page.getByLabel('Token').fill(server.address);
  await page.getByRole('button', {name: 'Open'}).click();
  await page.getByRole('link', {name: 'done', exact: true}).first().waitFor();
  assert.equal(page.url().includes(server.token), false);
  const cookies = await page.context().cookies();
  assert.ok(cookies[0].httpOnly && cookies[0].sameSite === 'Strict');
  await page.context().close();
});

test('from the list to a trial and back with keys alone', async () => {
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'done', exact: true}).first().waitFor();
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement.textContent === 'done')); ++i) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#best-value');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.waitForSelector('table.trials tbody th');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /\/t\/1$/.test(location.hash));
  await page.keyboard.press('?');
  await page.getByRole('heading', {name: 'Keys'}).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.waitForSelector('#best-value');
  await page.context().close();
});

test('zoom, filter, sort and selection are in the address and survive a reload', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done/curves');
  await page.waitForFunction(() => document.querySelector('#chart-curves figcaption').innerText !== '');
  const box = await page.locator('#chart-curves .plot').boundingBox();
  await page.mouse.move(box.x + 100, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 200, {steps: 4});
  await page.mouse.up();
  await until(() => /z\.curves=/.test(page.url()), 'the zoom in the address');
  await page.reload();
  await page.waitForFunction(() => /Zoomed/.test(document.querySelector('#chart-curves figcaption').innerText));
  await page.locator('#chart-curves .plot').focus();
  await page.keyboard.press('0');
  await until(() => !/z\.curves=/.test(page.url()), 'the address without zoom');
  await go(page, server, '/s/done/trials?sort=-best&q=adam');
  await page.locator('table.trials tbody tr').first().waitFor();
  const rows = await page.locator('table.trials tbody tr').count();
  const expected = place.json('trials', 'done').filter((t) => t.config.kind === 'adam');
  assert.equal(rows, expected.length);
  await page.context().close();
});

test('the what-if handle answers to keys at once', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done');
  const slider = page.getByLabel('Total budget to look at');
  await slider.waitFor({state: 'visible'});
  const before = await until(() => page.locator('#chart-outlook .said').innerText(), 'what the handle says');
  await slider.focus();
  await page.keyboard.press('End');
  const end = await until(async () => { const text = await page.locator('#chart-outlook .said').innerText(); return text !== before && text; }, 'another answer');
  assert.notEqual(end, before);
  const rows = place.json('what-if', 'done', '--budget', '300 epochs');
  assert.match(end, /^at 300 epochs/);
  assert.ok(end.includes(Number(rows.at(-1).best.toPrecision(4)).toString()), end);
  await page.context().close();
});

test('a study is followed live, its death noticed, and nothing missed when the server comes back', async () => {
  place.study('live', {delay: 0.15, budget: '600s'});
  const run = place.start('run', 'live.yaml', '-q');
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'live', exact: true}).waitFor();
  await go(page, server, '/s/live');
  await page.waitForSelector('#best-value');
  const spent = () => number(page, 'spent-value');
  const first = await spent();
  await until(async () => (await spent()) > first, 'a number that changes');
  // From the commit to the page.
  const late = await page.evaluate(() => new Promise((done) => {
    const waits = [];
    const source = new EventSource('api/v1/stream?at=live:999999999');
    source.addEventListener('status', (event) => {
      const record = JSON.parse(event.data);
      waits.push(Date.now() / 1000 - record.changed);
      if (waits.length >= 30) { source.close(); done(waits.sort((a, b) => a - b)); }
    });
  }));
  console.log('commit to page: median', Math.round(1000 * late[15]), 'ms, 95 %', Math.round(1000 * late[28]), 'ms');
  const zoomed = page.url();
  server.child.kill('SIGKILL');
  await page.waitForFunction(() => /not live since/.test(document.querySelector('#head').innerText));
  // The port is free again once the system has noticed that the server is gone.
  const again = await until(() => place.serve('--port', String(server.port)).catch(() => null), 'a server on the same port');
  await page.goto(again.address);
  server = again;
  await go(page, server, '/s/live');
  await page.waitForSelector('#best-value');
  process.kill(run.pid, 'SIGKILL');
  await page.waitForFunction(() => /Interrupted, nothing is lost/.test(document.querySelector('main').innerText));
  assert.equal(await spent(), place.json('status', 'live').budget.spent);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test('note, budget and pause are asked for, and done by the controller', async () => {
  place.study('acted', {delay: 0.3, budget: '600s'});
  const run = place.start('run', 'acted.yaml', '-q');
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'acted', exact: true}).waitFor();
  await go(page, server, '/s/acted');
  await page.waitForSelector('ul.running li');
  await page.click('#actions');
  const dialog = page.locator('dialog');
  await dialog.getByLabel('Note').fill('seen in the browser');
  await dialog.getByRole('button', {name: 'add'}).click();
  await page.waitForFunction(() => document.querySelector('dialog .tell').innerText === 'done');
  await dialog.getByLabel('Total budget').fill('1s');
  await dialog.getByRole('button', {name: 'change'}).click();
  await page.waitForFunction(() => /refused.*spent/.test(document.querySelector('dialog .tell').innerText));
  await dialog.getByLabel('Total budget').fill('700s');
  await dialog.getByRole('button', {name: 'change'}).click();
  await page.waitForFunction(() => document.querySelector('dialog .tell').innerText === 'done');
  assert.equal(place.json('status', 'acted').budget.total, 700);
  const running = place.json('trials', 'acted').find((t) => t.state === 'running').trial;
  await dialog.getByLabel('Trial', {exact: true}).fill(String(running));
  await dialog.getByRole('button', {name: 'stop for good'}).click();
  await page.waitForFunction(() => document.querySelector('dialog .tell').innerText === 'done');
  await until(() => place.json('show', 'acted', String(running)).state === 'stopped', 'a stopped trial');
  await page.keyboard.press('Escape');
  const other = await until(() => place.json('trials', 'acted').find((t) => t.state === 'running'), 'another trial');
  await go(page, server, '/s/acted/t/' + other.trial);
  await page.getByRole('button', {name: 'Stop this trial'}).click();
  await page.getByRole('button', {name: 'Stop it for good?'}).click();
  await page.waitForFunction(() => /stopped/.test(document.querySelector('[aria-labelledby=h-facts] .state').innerText));
  await page.click('#actions');
  await dialog.getByRole('button', {name: 'Pause the study'}).click();
  await new Promise((done) => (run.exitCode === null ? run.on('exit', done) : done()));
  assert.equal(run.exitCode, 130);
  assert.match(place.bapi('export', 'acted', '-f', 'json'), /seen in the browser/);
  await page.context().close();
});

test('a hidden tab closes its stream', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done');
  await page.waitForFunction(() => /live/.test(document.querySelector('.live').innerText));
  const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/v1/stream'));
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', {value: true, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await closed;
  await page.context().close();
});

test('the report in one file opens offline, asks for nothing and has the same numbers', async () => {
  const file = join(place.dir, 'done.html');
  place.bapi('export', 'done', '-f', 'html', '--out', file);
  const page = await open(chrome, 'about:blank', {offline: true});
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto('file://' + file);
  await page.waitForSelector('#best-value');
  const status = place.json('status', 'done');
  assert.equal(await number(page, 'best-value'), status.best.value);
  assert.equal(await number(page, 'spent-value'), status.budget.spent);
  for (const part of PAGES) {
    await go(page, {base: 'file://' + file}, '/s/study' + part);
    assert.equal(await page.locator('h1').count(), 1);
  }
  assert.deepEqual(page.wrong, []);
  assert.deepEqual(asked.filter((url) => !url.startsWith('file://') && !url.startsWith('data:')), []);
  await page.context().close();
});

test('every page has something to say in every state: new, failing, damaged, unreadable', async () => {
  const start = place.start('run', 'fresh.yaml', '-q');
  place.finished('ruined', {fail: 1});
  mkdirSync(join(place.dir, 'bad.bapi'));
  writeFileSync(join(place.dir, 'bad.bapi', 'study.db'), 'no database');
  cpSync(join(place.dir, 'done.bapi'), join(place.dir, 'copy'), {recursive: true});
  const broke = spawnSync('python3', ['-c', 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("DELETE FROM event WHERE seq = 20"); db.commit()', join(place.dir, 'copy', 'study.db')], {encoding: 'utf8'});
  assert.equal(broke.status, 0, broke.stderr);
  renameSync(join(place.dir, 'copy'), join(place.dir, 'damaged.bapi'));
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'fresh', exact: true}).waitFor();
  const list = await until(async () => { const text = await page.locator('main').innerText(); return /bad/.test(text) && /study\.db/.test(text) && text; }, 'the unreadable study');
  assert.match(list, /unreadable/);
  for (const [study, expected] of [['fresh', /No report yet/], ['ruined', /failed in a row[\s\S]*End of the log/], ['damaged', /The log is damaged/]]) {
    await go(page, server, '/s/' + study);
    await until(async () => expected.test(await page.locator('main').innerText()), study + ' saying ' + expected);
    for (const part of PAGES.slice(0, 8)) {
      await go(page, server, '/s/' + study + part);
      assert.ok((await page.locator('main').innerText()).trim().length > 10, study + part);
    }
  }
  await page.goto(server.base + '#/s/bad');
  await until(async () => /study\.db/.test(await page.locator('main').innerText()), 'the message of the store');
  assert.deepEqual(page.wrong, []);
  start.kill('SIGKILL');
  await page.context().close();
});

test('a trial shows the other metrics of its reports', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done/t/0');
  await page.waitForFunction(() => /loss of trial 0/.test(document.querySelector('#chart-metric-loss figcaption')?.innerText || ''));
  await page.locator('#chart-metric-loss').getByRole('button', {name: 'Table: loss'}).click();
  const reported = place.json('show', 'done', '0').curve;
  assert.equal(await page.locator('#chart-metric-loss tbody tr').count(), reported.length);
  await page.context().close();
});

test('keys in a chart move the reading point, zoom, and show the table; space holds the live view', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done/budget');
  await page.waitForFunction(() => document.querySelector('#chart-burndown figcaption').innerText !== '');
  await page.locator('#chart-burndown .plot').focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('#chart-burndown .reading').innerText !== '');
  await page.keyboard.press('+');
  await until(() => /z\.burndown=/.test(page.url()), 'the zoom in the address');
  await page.keyboard.press('0');
  await until(() => !/z\.burndown=/.test(page.url()), 'the address without zoom');
  await page.keyboard.press('t');
  await page.locator('#chart-burndown .tablebox:not([hidden])').waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press(' ');
  await page.waitForFunction(() => /held/.test(document.querySelector('.live').innerText));
  await page.context().close();
});

test('without a controller a pause is not offered; read-only offers nothing', async () => {
  const watch = await place.serve('--port', '0', '--read-only', '--no-token');
  const page = await open(chrome, watch.address);
  await go(page, watch, '/s/done');
  await page.waitForSelector('#best-value');
  assert.equal(await page.locator('#actions').count(), 0);
  const answer = await page.evaluate(() => fetch('api/v1/studies/done/requests', {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Bapi': '1'}, body: '{"action": "note", "text": "x"}'}).then((a) => a.status));
  assert.equal(answer, 405);
  await page.context().close();
  const own = await open(chrome, server.address);
  await go(own, server, '/s/done');
  await own.click('#actions');
  assert.equal(await own.getByRole('button', {name: 'Pause the study'}).count(), 0);
  await own.context().close();
});

test('spreadsheets do not take a cell for a formula', async () => {
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'done', exact: true}).first().waitFor();
  const source = readFileSync(new URL('../../src/bapi/dashboard/assets/base.js', import.meta.url), 'utf8');
  const text = /export function csv[\s\S]*?\n}\n/.exec(source)[0].replace('export ', '');
  const csv = new Function(text + 'return csv;')();
  assert.equal(csv(['a'], [['=1+1'], ['+x'], ['-x'], ['@x'], [-1.5], ['a,"b"'], [null]]), 'a\r\n\'=1+1\r\n\'+x\r\n\'-x\r\n\'@x\r\n-1.5\r\n"a,""b"""\r\n\r\n');
  await page.context().close();
});

test('names and values from outside are text, whatever they hold', async () => {
  const nasty = ['<img src=x onerror=alert(1)>', '\u202egnp.exe', 'x'.repeat(10000), '"><script>alert(1)</script>', '=1+1'];
  place.study('nasty', {budget: '"40 epochs"', epochs: 4, policy: 'random'});
  const file = join(place.dir, 'nasty.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('  kind: {values: [sgd, adam]}', '  kind: {values: ' + JSON.stringify(nasty).replaceAll('\\u202e', '\u202e') + '}'));
  place.bapi('run', 'nasty.yaml', '-q');
  const page = await open(chrome, server.address, {width: 360});
  await page.getByRole('link', {name: 'nasty', exact: true}).waitFor();
  for (const part of PAGES) {
    await go(page, server, '/s/nasty' + part);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(over <= 0, part + ' scrolls by ' + over);
    assert.equal(await page.locator('main img, main script, main iframe').count(), 0, part);
    assert.equal((await page.locator('main').innerText()).includes('\u202e'), false, part);
  }
  assert.deepEqual(page.wrong, []);
  const report = join(place.dir, 'nasty.html');
  place.bapi('export', 'nasty', '-f', 'html', '--out', report);
  const alone = await open(chrome, 'file://' + report, {offline: true});
  await alone.waitForSelector('#best-value');
  assert.equal(await alone.locator('img').count(), 0);
  assert.deepEqual(alone.wrong, []);
  await page.context().close();
  await alone.context().close();
});

test('all colours of text reach 4.5:1 against the paper, those of lines 3:1', async () => {
  for (const scheme of ['light', 'dark']) {
    const page = await open(chrome, server.address, {scheme});
    await go(page, server, '/');
    const ratios = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement), value = (name) => style.getPropertyValue('--' + name).trim();
      const light = (hex) => { const full = hex.length === 4 ? '#' + [...hex.slice(1)].map((c) => c + c).join('') : hex; const [r, g, b] = [1, 3, 5].map((i) => { const v = parseInt(full.slice(i, i + 2), 16) / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const paper = light(value('paper')), ratio = (name) => { const l = light(value(name)); return (Math.max(l, paper) + 0.05) / (Math.min(l, paper) + 0.05); };
      return Object.fromEntries(['ink', 'quiet', 'linkc', 'vermilion', 'blue', 'orange', 'green', 'grey', 'sky', 'purple', 'yellow', 'select'].map((name) => [name, ratio(name)]));
    });
    for (const [name, ratio] of Object.entries(ratios)) assert.ok(ratio >= (['ink', 'quiet', 'linkc', 'vermilion'].includes(name) ? 4.5 : 3), `${scheme} ${name}: ${ratio.toFixed(2)}`);
    await page.context().close();
  }
});

test('eight tabs stay responsive', async () => {
  const context = await chrome.newContext();
  const pages = [];
  for (let i = 0; i < 8; ++i) {
    pages.push(await context.newPage());
    await pages[i].goto(i ? server.base + '#/s/done' : server.address);
    if (!i) await pages[0].getByRole('link', {name: 'done', exact: true}).first().waitFor();
    if (!i) await pages[0].goto(server.base + '#/s/done');
    // A tab in the background is hidden, which a headless browser does not say by itself.
    if (i) await pages[i - 1].evaluate(() => { Object.defineProperty(document, 'hidden', {value: true, configurable: true}); document.dispatchEvent(new Event('visibilitychange')); });
    await pages[i].waitForSelector('#best-value');
  }
  await context.close();
});
