// The dashboard in a real browser. `make test-web`, or node --test tests/web.
import assert from 'node:assert/strict';
import {readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer, request} from 'node:http';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {browser, go, leave, open, shownNumber, stage, until} from './harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = ['', '/curves', '/trials', '/plan', '/budget', '/decisions', '/params', '/model', '/t/0'];

let chrome, place, server;

before(async () => {
  ({chrome, place, server} = await stage((made) => {
    made.finished('done');
    made.finished('broken', {fail: 0.5, policy: 'hyperband'});
  }));
});
after(() => leave({chrome, place}));

for (const width of [1280, 360]) {
  test(`the five questions are answered at ${width} px, with the numbers of bapi status`, async () => {
    const page = await open(chrome, server.address, {width});
    await go(page, server, '/s/done');
    const status = place.json('status', 'done'), ledger = place.json('ledger', 'done');
    await page.waitForSelector('#best-value');
    assert.equal(await shownNumber(page, 'best-value'), status.best.value);
    assert.equal(await shownNumber(page, 'spent-value'), status.budget.spent);
    assert.equal(await shownNumber(page, 'total-value'), status.budget.total);
    const text = await page.locator('main').innerText();
    assert.match(text, /finished/);
    assert.match(text, new RegExp('trial ' + status.best.trial + ', epoch ' + status.best.epoch));
    assert.ok(text.includes(status.best.checkpoint));
    assert.match(text, /bapi resume done.bapi --budget/);
    const line = await page.locator('.stateline').innerText();
    assert.ok(line.includes(Object.values(status.trials).reduce((a, b) => a + b) + ' trials'), line);
    for (const [state, count] of Object.entries(status.trials)) assert.equal(line.includes(count + ' ' + state), count > 0, line);
    const config = await page.locator('.config > span').evaluateAll((list) => Object.fromEntries(list.map((n) => [n.textContent.split('=')[0], n.title])));
    assert.deepEqual(config, Object.fromEntries(Object.entries(status.best.config).map(([name, value]) => [name, String(value)])));
    // The kinds of spending are those of the ledger, and their shares those of what was spent.
    const kinds = await page.locator('.kinds > span').allInnerTexts(), spent = status.budget.spent;
    for (const kind of new Set(ledger.map((row) => row.kind))) {
      const sum = ledger.filter((row) => row.kind === kind).reduce((total, row) => total + row.cost, 0);
      assert.ok(!sum || kinds.some((k) => k.trim().endsWith(' ' + (100 * sum / spent).toFixed(1) + ' %')), kind + ' in ' + kinds);
    }
    const latest = place.json('explain', 'done').at(-1);
    assert.ok((await page.locator('.decision').innerText()).includes('#' + latest.seq + ' ' + latest.decision));
    await page.waitForFunction(() => /further trial|almost nothing|no affordable/.test(document.querySelector('#chart-outlook').innerText) || /expected \(80/.test(document.querySelector('#chart-outlook').innerText));
    for (const heading of ['Best', 'Budget', 'Outlook', 'Now']) assert.ok(await page.getByRole('heading', {name: heading, exact: true}).count(), heading);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  });
}

test('axe-core finds nothing, light and dark, dialogs open', async () => {
  for (const scheme of ['light', 'dark']) {
    const page = await open(chrome, server.address, {scheme});
    await go(page, server, '/');
    const check = async (what) => {
      await page.evaluate(axe);
      const result = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}));
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

test('the axis of epochs has whole ones only', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/broken/curves?z.curves=1,2,0,1');
  await page.waitForFunction(() => !!document.querySelector('#chart-curves').chart.x);
  assert.deepEqual(await page.evaluate(() => document.querySelector('#chart-curves').chart.x.ticks(10)), [1, 2]);
  await page.context().close();
});

test('the front of cost and value begins with the best of the cheapest', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done/budget');
  const trials = place.json('trials', 'done').filter((t) => t.best !== null && t.spent > 0), least = Math.min(...trials.map((t) => t.spent)), best = Math.max(...trials.filter((t) => t.spent === least).map((t) => t.best));
  const caption = await page.locator('#chart-cost-value figcaption').innerText();
  assert.ok(Math.abs(Number(/cost: ([\d.]+) for/.exec(caption)[1]) - best) < 1e-4, caption);
  await page.context().close();
});

test('a log full of colours and endless lines leaves the page awake', async () => {
  const log = join(place.log('done'), 'trials', '0001', 'log'), kept = readFileSync(log);
  const colours = Array.from({length: 8000}, (_, i) => '\u001b[' + (30 + i % 8) + 'm\u001b[1m' + String.fromCharCode(97 + i % 26)).join('');
  writeFileSync(log, 'x'.repeat(10_000_000) + '\n\u001b[2J\u001b[999;999H\u001b]0;title\u0007' + colours + '\u001b['.repeat(3000) + '\nthe end');
  try {
    const page = await open(chrome, server.address);
    await go(page, server, '/s/done/t/1');
    await page.waitForFunction(() => /the end/.test(document.querySelector('pre.log').innerText));
    const [kinds, text] = await page.locator('pre.log').evaluate((log) => [[...new Set([...log.querySelectorAll('*')].map((n) => n.tagName + ' ' + n.className.replace(/\d+/, 'N')))], log.textContent]);
    assert.deepEqual(kinds.filter((k) => !/^SPAN (ansiN )?bold$|^SPAN ansiN$/.test(k)), []);
    assert.ok(text.length < 70_000, text.length + ' characters');
    await page.keyboard.press('?');
    await page.getByRole('heading', {name: 'Keys'}).waitFor();
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally { writeFileSync(log, kept); }
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

test('the what-if handle follows the mouse and a finger', async () => {
  for (const touch of [false, true]) {
    const page = await open(chrome, server.address, {touch, width: touch ? 360 : 1280});
    await go(page, server, '/s/done');
    const slider = page.getByLabel('Total budget to look at'), said = page.locator('#chart-outlook .said');
    await slider.waitFor({state: 'visible'});
    await slider.scrollIntoViewIfNeeded();
    const before = await until(() => said.innerText(), 'what the handle says'), box = await slider.boundingBox(), y = box.y + box.height / 2;
    if (touch) await page.touchscreen.tap(box.x + 0.9 * (box.width - 16) + 8, y);
    else {
      const at = Number(await slider.inputValue()) / 1000;
      await page.mouse.move(box.x + at * (box.width - 16) + 8, y);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.9 * (box.width - 16) + 8, y, {steps: 5});
      await page.mouse.up();
    }
    const after = await until(async () => { const text = await said.innerText(); return text !== before && text; }, 'another answer');
    // The status, the address and the mark in the chart agree.
    const asked = Number(/budget=([\d.]+)/.exec(page.url())[1]), mark = await page.evaluate(() => document.querySelector('#chart-outlook').chart.spec.marks.find((m) => m.type === 'dots' && m.xs.length === 1).xs[0]);
    assert.ok(Math.abs(asked - 285) < 12, page.url());
    assert.equal(mark, asked);
    assert.match(after, /^at 28\d(\.\d+)? epochs: /);
    assert.match(await page.locator('#chart-outlook .command').innerText(), /bapi resume done\.bapi --budget '\d+ epochs'/);
    await page.context().close();
  }
});

test('on a phone, a chosen row of the table shows what there is no room for', async () => {
  const page = await open(chrome, server.address, {touch: true, width: 360, height: 740});
  await go(page, server, '/s/done/trials');
  const row = page.locator('table.trials tbody tr:not([aria-hidden])').nth(3), number = Number(await row.locator('th').innerText());
  assert.equal(await row.locator('td:visible').count(), 2);
  await row.locator('td').first().tap();
  const trial = place.json('trials', 'done').find((t) => t.trial === number), text = await page.locator('.picked').innerText();
  for (const part of ['trial ' + number, trial.epochs + ' epoch', 'units=' + trial.config.units, 'kind=' + trial.config.kind]) assert.ok(text.includes(part), text);
  assert.match(page.url(), new RegExp('sel=' + number));
  await row.locator('td').first().tap();
  await page.locator('.picked').waitFor({state: 'hidden'});
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

test('without a controller budget, note and stop are written at once, and what cannot be is refused', async () => {
  place.finished('idle', {budget: '"60 epochs"'});
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'idle', exact: true}).first().waitFor();
  await go(page, server, '/s/idle');
  await page.click('#actions');
  const dialog = page.locator('dialog'), tell = dialog.locator('.tell'), says = (words) => until(async () => words.test(await tell.innerText()), 'the answer ' + words);
  assert.match(await dialog.innerText(), /No controller runs this study/);
  await dialog.getByLabel('Note').fill('written while nothing runs');
  await dialog.getByRole('button', {name: 'add'}).click();
  await says(/^done$/);
  await dialog.getByLabel('Total budget').fill('5 epochs');
  await dialog.getByRole('button', {name: 'change'}).click();
  await says(/spent/);
  await dialog.getByLabel('Total budget').fill('many');
  await dialog.getByRole('button', {name: 'change'}).click();
  await says(/many/);
  await dialog.getByLabel('Total budget').fill('90 epochs');
  await dialog.getByRole('button', {name: 'change'}).click();
  await says(/^done$/);
  await dialog.getByLabel('Trial', {exact: true}).fill('99');
  await dialog.getByRole('button', {name: 'stop for good'}).click();
  await says(/99/);
  const open_ = place.json('trials', 'idle').find((t) => t.state === 'paused').trial;
  await dialog.getByLabel('Trial', {exact: true}).fill(String(open_));
  await dialog.getByRole('button', {name: 'stop for good'}).click();
  await says(/^done$/);
  assert.equal(place.json('show', 'idle', String(open_)).state, 'stopped');
  assert.equal(place.json('status', 'idle').budget.total, 90);
  assert.match(place.bapi('export', 'idle', '-f', 'json'), /written while nothing runs/);
  await page.keyboard.press('Escape');
  await until(async () => (await shownNumber(page, 'total-value')) === 90, 'the new total on the page');
  // A trial that never trains again is shown without a forecast, though the planner has one for whoever asks.
  const forecast = async () => (await fetch(server.base + 'api/v1/studies/idle/forecast?trials=' + open_, {headers: {Authorization: 'Bearer ' + server.token}})).json();
  await until(async () => ((await forecast()).answer || []).some((f) => f.trial === open_), 'the forecast');
  await go(page, server, '/s/idle/t/' + open_);
  assert.match(await page.locator('#chart-trial figcaption').innerText(), /^At epoch 1, accuracy was [\d.]+(; the best is [\d.]+ at epoch \d+)?\.( \d+ values? lies? outside the frame\.)?$/);
  assert.deepEqual(page.wrong, []);
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
  assert.equal(await shownNumber(page, 'best-value'), status.best.value);
  assert.equal(await shownNumber(page, 'spent-value'), status.budget.spent);
  for (const part of PAGES) {
    await go(page, {base: 'file://' + file}, '/s/study' + part);
    assert.equal(await page.locator('h1').count(), 1);
  }
  assert.deepEqual(page.wrong, []);
  assert.deepEqual([...new Set(asked.map((url) => url.replace(/#.*/, '')))], ['file://' + file]);
  await page.context().close();
});

test('in the closed frame of a notebook the report works as anywhere', async () => {
  const notebook = join(place.dir, 'notebook.html'), report = Buffer.from(place.bapi('export', 'done', '-f', 'html')).toString('base64');
  // As `_repr_html_` of the Python package writes it: a document of its own, without storage and without an origin.
  writeFileSync(notebook, `<!DOCTYPE html><meta charset="utf-8"><iframe src="data:text/html;base64,${report}" sandbox="allow-scripts allow-downloads" title="bapi study" style="width: 100%; height: 720px"></iframe>`);
  const page = await open(chrome, 'file://' + notebook, {offline: true}), frame = page.frameLocator('iframe');
  assert.equal(Number(await frame.locator('#best-value').getAttribute('title')), place.json('status', 'done').best.value);
  await frame.getByRole('link', {name: 'Curves'}).click();
  await until(async () => / curves; the thick one is trial \d+/.test(await frame.locator('#chart-curves figcaption').innerText()), 'the curves');
  await frame.locator('#theme').click();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test('a report holds the ends of logs of failed trials alone, or none, and is never above 5 MB', async () => {
  const failed = place.json('trials', 'broken').find((t) => t.state === 'failed').trial, file = join(place.dir, 'broken.html');
  const show = async (...options) => {
    place.bapi('export', 'broken', '-f', 'html', '--out', file, ...options);
    const page = await open(chrome, 'file://' + file, {offline: true});
    await go(page, {base: 'file://' + file}, '/s/study/t/' + failed);
    const text = await until(() => page.locator('pre.log').innerText(), 'the log');
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    return text;
  };
  assert.match(await show(), /it failed/);
  assert.match(await show('--no-logs'), /Logs are not part of this report/);
  place.recorded('vast', 3000, 100);
  const large = join(place.dir, 'vast.html');
  place.bapi('export', 'vast', '-f', 'html', '--out', large);
  assert.ok(statSync(large).size <= 5e6, statSync(large).size + ' bytes');
  const page = await open(chrome, 'file://' + large + '#/s/study', {offline: true});
  await page.waitForSelector('#best-value');
  assert.match(await page.locator('.live').innerText(), /curves of the \d+ best of 3000 trials/);
  assert.equal(await shownNumber(page, 'best-value'), place.json('status', 'vast').best.value);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test('a trial shows the other metrics of its reports', async () => {
  const page = await open(chrome, server.address);
  await go(page, server, '/s/done/t/0');
  await page.waitForFunction(() => /At epoch 1, loss was/.test(document.querySelector('#chart-metric-loss figcaption')?.innerText || ''));
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
  // Without the focus, they are for the chart below the pointer, or else the first.
  await page.keyboard.press('t');
  await page.locator('#chart-burndown .tablebox').waitFor({state: 'hidden'});
  await page.locator('#chart-cost-value .plot').hover();
  await page.keyboard.press('l');
  await until(() => /log\.cost-value=/.test(page.url()), 'the axis in the address');
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
      const between = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      // Cards are on paper; the state line, the list's bar and logs on what is behind it.
      const ratio = (name) => between(light(value(name)), light(value('paper'))), behind = (name) => between(light(value(name)), light(value('back')));
      return Object.fromEntries([...['ink', 'quiet', 'linkc', 'vermilion'].map((name) => [name + ' behind', behind(name)]), ...['ink', 'quiet', 'linkc', 'vermilion', 'blue', 'orange', 'green', 'grey', 'sky', 'purple', 'yellow', 'select'].map((name) => [name, ratio(name)])]);
    });
    for (const [name, ratio] of Object.entries(ratios)) assert.ok(ratio >= (/^(ink|quiet|linkc|vermilion)/.test(name) ? 4.5 : 3), `${scheme} ${name}: ${ratio.toFixed(2)}`);
    await page.context().close();
  }
});

test('another site gets nothing out of the dashboard, and cannot change anything', async () => {
  const status = place.bapi('export', 'done', '-f', 'json'), port = server.port, wrong = '0'.repeat(32);
  const site = createServer((request, answer) => { answer.setHeader('Content-Type', 'text/html'); answer.end('<!DOCTYPE html><title>a site</title><body></body>'); });
  await new Promise((done) => site.listen(0, '127.0.0.1', done));
  // Names lead where an attacker wants them to.
  const misled = await browser('--host-resolver-rules=MAP evil.example 127.0.0.1');
  try {
    const context = await misled.newContext(), page = await context.newPage();
    await page.goto(server.address);
    await page.getByRole('link', {name: 'done', exact: true}).first().waitFor();
    assert.equal((await page.goto(`http://evil.example:${port}/`)).status(), 421);
    assert.equal((await page.goto(`http://evil.example:${port}/api/v1/studies`)).status(), 421);
    for (const host of ['127.0.0.1', 'evil.example']) {  // the cookie is there: ports share it
      await page.goto(`http://${host}:${site.address().port}/`);
      const got = await page.evaluate(async ({base, wrong}) => {
        const told = {}, ask = async (name, url, options) => { try { const a = await fetch(url, {credentials: 'include', ...options}); told[name] = a.type === 'opaque' ? 'opaque' : a.status; } catch { told[name] = 'refused'; } };
        const json = {'Content-Type': 'application/json', 'X-Bapi': '1'}, note = JSON.stringify({action: 'note', text: 'from elsewhere'});
        await ask('read', base + 'api/v1/studies');
        await ask('read with a token', base + 'api/v1/studies', {headers: {Authorization: 'Bearer ' + wrong}});
        await ask('change', base + 'api/v1/studies/done/requests', {method: 'POST', headers: json, body: note});
        await ask('simple change', base + 'api/v1/studies/done/requests', {method: 'POST', mode: 'no-cors', headers: {'Content-Type': 'text/plain'}, body: note});
        const load = (node, url) => new Promise((done) => { node.onload = () => done('loaded'); node.onerror = () => done('refused'); node[node.tagName === 'OBJECT' ? 'data' : 'src'] = url; document.body.append(node); });
        told.script = await load(document.createElement('script'), base + 'app.js');
        const frame = document.createElement('iframe');
        await load(frame, base);
        try { told.frame = frame.contentDocument ? 'open' : 'closed'; } catch { told.frame = 'closed'; }
        return told;
      }, {base: server.base, wrong});
      assert.deepEqual({...got, 'simple change': got['simple change'] === 'opaque' || got['simple change'] === 'refused'},
                       {read: 'refused', 'read with a token': 'refused', change: 'refused', 'simple change': true, script: host === '127.0.0.1' ? got.script : 'refused', frame: 'closed'}, host);
    }
    await context.close();
  } finally {
    await misled.close();
    site.close();
  }
  assert.equal(place.bapi('export', 'done', '-f', 'json'), status);
});

test('asked for directly, the server refuses foreign hosts, origins, types, tokens and paths', async () => {
  const own = {Authorization: 'Bearer ' + server.token}, change = {...own, Origin: server.base.replace(/\/$/, ''), 'Content-Type': 'application/json', 'X-Bapi': '1'};
  const ask = (path, headers, method = 'GET', body = null) => new Promise((done, failed) => {
    const question = request({host: '127.0.0.1', port: server.port, path, method, headers: body ? {...headers, 'Content-Length': Buffer.byteLength(body)} : headers}, (answer) => { let text = ''; answer.on('data', (part) => { text += part; }); answer.on('end', () => done({status: answer.statusCode, text})); });
    question.on('error', failed);
    question.end(body);
  });
  const note = JSON.stringify({action: 'note', text: 'x'}), requests = '/api/v1/studies/done/requests';
  assert.equal((await ask('/api/v1/studies', own)).status, 200);
  assert.equal((await ask('/api/v1/studies', {...own, Host: 'evil.example'})).status, 421);
  assert.equal((await ask('/api/v1/studies', {})).status, 401);
  assert.equal((await ask('/api/v1/studies', {Authorization: 'Bearer ' + '0'.repeat(32)})).status, 401);
  assert.equal((await ask(requests, {...change, Origin: 'http://evil.example'}, 'POST', note)).status, 403);
  assert.equal((await ask(requests, {...change, 'X-Bapi': ''}, 'POST', note)).status, 403);
  assert.equal((await ask(requests, {...change, 'Content-Type': 'text/plain'}, 'POST', note)).status, 415);
  for (const part of ['..', '%2e%2e', '%2e%2e%2f%2e%2e', '..%2f..', '%2fetc']) {
    for (const path of [`/${part}`, `/api/v1/${part}`, `/api/v1/studies/${part}`, `/api/v1/studies/done/${part}`, `/api/v1/studies/done/trials/${part}`, `/api/v1/studies/done/trials/0/${part}`, `/api/v1/studies/done/trials/0/log/${part}`, `/api/v1/studies/${part}/trials/0/log`]) {
      const answer = await ask(path, own);
      assert.ok([400, 404].includes(answer.status), path + ': ' + answer.status);
    }
  }
  const log = join(place.log('done'), 'trials', '0002', 'log');
  renameSync(log, log + '.kept');
  symlinkSync('/etc/passwd', log);
  try {
    const page = await open(chrome, server.address);
    await go(page, server, '/s/done/t/2');
    await page.waitForFunction(() => /The log is empty/.test(document.querySelector('pre.log').innerText));
    await page.context().close();
  } finally {
    rmSync(log);
    renameSync(log + '.kept', log);
  }
});
