// The dashboard while studies change: what is new appears, and what the reader was doing stays. node --test live.spec.mjs
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {assertSound, go, leave, lowPort, open, shownNumber, stage, until} from './harness.mjs';

let chrome, place, server;

before(async () => {
  ({chrome, place, server} = await stage((made) => {
    made.recorded('log', 60, 200, 1);
    made.study('killed', {delay: 0.1, budget: '600s'});
  }, '--read-only', '--no-token'));
});
after(() => leave({chrome, place}));

const spent = (page) => shownNumber(page, 'spent-value');

test('what is appended to a log is on the page within 300 ms', async () => {
  const page = await open(chrome, server.base + '#/s/log');
  await go(page, server, '/s/log');
  await page.waitForSelector('#spent-value');
  await page.evaluate(() => {
    window.seen = [];
    const look = () => { const n = document.querySelector('#spent-value'), v = n && Number(n.title); if (v && v !== window.seen.at(-1)?.spent) window.seen.push({spent: v, at: Date.now() / 1000}); };
    new MutationObserver(look).observe(document.querySelector('main'), {subtree: true, childList: true, attributes: true});
  });
  const written = await place.append('log', 30, 0.35);
  await until(async () => (await spent(page)) === written.at(-1).spent, 'the last report');
  const seen = await page.evaluate(() => window.seen);
  const late = written.map((w) => 1000 * (seen.find((s) => s.spent >= w.spent).at - w.at)).sort((a, b) => a - b);
  console.log('from the log to the page: median', Math.round(late[15]), 'ms, 95 %', Math.round(late[28]), 'ms');
  // On a busy machine some wait for the processor; a page that asks now and then would be late with most.
  assert.ok(late[7] <= 300, 'a quarter of the reports came within ' + Math.round(late[7]) + ' ms');
  assert.equal(await spent(page), place.json('status', 'log').budget.spent);
  await assertSound(page, 'overview');
  await page.context().close();
});

test('zoom, scroll, focus and selection stay while the study goes on', async () => {
  const page = await open(chrome, server.base, {height: 500});
  const grows = async () => {
    const [last] = await place.append('log', 1, 0);
    await page.waitForFunction((seq) => document.querySelector('.stateline') && window.told >= seq, last.spent);
  };
  // Status events tell what was spent; the page has taken one up once its own listeners have run.
  await page.addInitScript(() => {
    window.told = 0;
    const Source = window.EventSource;
    window.EventSource = class extends Source {
      constructor(...words) {
        super(...words);
        this.addEventListener('status', (event) => setTimeout(() => { window.told = JSON.parse(event.data).budget?.spent ?? window.told; }, 0));
      }
    };
  });
  await page.reload();
  await go(page, server, '/s/log/curves?sel=3&pin=5');
  const plot = page.locator('#chart-curves .plot'), box = await plot.boundingBox();
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 200, {steps: 4});
  await page.mouse.up();
  await until(() => /z\.curves=/.test(page.url()), 'the zoom in the address');
  await plot.focus();
  await page.evaluate(() => window.scrollTo(0, 60));
  const frame = () => page.evaluate(() => { const c = document.querySelector('#chart-curves').chart; return [c.x.low, c.x.high, c.y.low, c.y.high, window.scrollY, document.activeElement.className, location.hash]; });
  const before = await frame();
  assert.equal(before[5], 'plot');
  await grows();
  assert.deepEqual(await frame(), before);

  await go(page, server, '/s/log/trials?sort=-best&sel=7');
  const filter = page.locator('#filter');
  await filter.fill('trial');
  await filter.evaluate((input) => input.setSelectionRange(1, 3));
  const rows = () => page.evaluate(() => { const f = document.querySelector('#filter'), v = document.querySelector('.virtual'); return [document.activeElement.id, f.value, f.selectionStart, f.selectionEnd, v.scrollTop, location.hash, document.querySelectorAll('tr.selected').length]; });
  await page.evaluate(() => { document.querySelector('.virtual').scrollTop = 120; });
  const table = await rows();
  await grows();
  assert.deepEqual(await rows(), table);
  // A link within the table keeps the focus although its row is made anew.
  const link = page.locator('table.trials tbody th a').nth(3), name = await link.innerText();
  await link.focus();
  await grows();
  await page.waitForFunction((text) => document.activeElement.textContent === text, name);

  await go(page, server, '/s/log/decisions');
  const item = page.locator('details.decisionitem').nth(2);
  await item.locator('summary').click();
  await item.locator('summary').focus();
  await grows();
  assert.ok(await item.evaluate((node) => node.open && document.activeElement === node.querySelector('summary')));
  await assertSound(page, 'decisions');
  await page.context().close();
});

test('a server that comes back finds its page waiting, and nothing is missed', async () => {
  const port = String(await lowPort()), first = await place.serve('--port', port, '--read-only', '--no-token');
  const page = await open(chrome, first.base + '#/s/log/curves');
  await go(page, first, '/s/log/curves');
  await page.waitForFunction(() => /^. live$/.test(document.querySelector('.live').innerText));
  first.child.kill('SIGKILL');
  await page.waitForFunction(() => /not live since/.test(document.querySelector('.live').innerText) && document.querySelector('.live').classList.contains('is-off'));
  assert.match(await page.locator('main').innerText(), /60 curves|61 curves/);  // the data stay
  const missed = (await place.append('log', 12, 0)).at(-1);
  await until(() => place.serve('--port', port, '--read-only', '--no-token').catch(() => null), 'a server on the same port');
  await page.waitForFunction(() => /^. live$/.test(document.querySelector('.live').innerText));
  const last = place.json('show', 'log', '60').curve;
  await page.waitForFunction((epoch) => document.querySelector('#chart-curves').chart.spec.table.rows.filter((r) => r[0] === 60).length === epoch, last.length);
  await go(page, first, '/s/log');
  await until(async () => (await spent(page)) === missed.spent, 'what was spent meanwhile');
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test('a controller that was killed is noticed within 2 seconds', async () => {
  const page = await open(chrome, server.base);
  const times = [];
  while (times.length < 4 && !times.some((t) => t <= 2000)) {
    const run = place.start('run', 'killed.yaml', '-q');
    await page.getByRole('link', {name: 'killed', exact: true}).first().waitFor();
    await go(page, server, '/s/killed');
    await page.waitForFunction(() => /running/.test(document.querySelector('.stateline .state').innerText) && document.querySelector('ul.running li'));
    const killed = Date.now();
    process.kill(run.pid, 'SIGKILL');
    await page.waitForFunction(() => /Interrupted, nothing is lost/.test(document.querySelector('main').innerText));
    times.push(Date.now() - killed);
    await page.goto(server.base + '#/');
  }
  assert.ok(Math.min(...times) <= 2000, 'noticed after ' + times.join(', ') + ' ms');
  await page.context().close();
});

test('eight tabs stay responsive: hidden ones close their stream and catch up when they are seen again', async () => {
  const context = await chrome.newContext(), tabs = [];
  const hide = (page, hidden) => page.evaluate((value) => { Object.defineProperty(document, 'hidden', {value, configurable: true}); document.dispatchEvent(new Event('visibilitychange')); }, hidden);
  for (let i = 0; i < 8; ++i) {
    const page = await context.newPage();
    tabs.push(page);
    await page.goto(server.base + '#/s/log');
    await page.waitForSelector('#spent-value');
    await until(() => page.evaluate(() => /^. live$/.test(document.querySelector('.live').innerText)), 'a live tab');
    // A tab in the background is hidden, which a headless browser does not say by itself. The last one stays in front.
    if (i < 7) await hide(page, true);
  }
  const before = await spent(tabs[7]), [report] = await place.append('log', 1, 0);
  await until(async () => (await spent(tabs[7])) === report.spent, 'the tab in front');
  assert.equal(await spent(tabs[2]), before);  // it has no stream
  await tabs[7].goto(server.base + '#/s/log/trials');
  await until(() => tabs[7].locator('table.trials tbody th').count(), 'another page in the tab in front');
  await hide(tabs[7], true);
  await hide(tabs[2], false);
  await until(async () => (await spent(tabs[2])) === report.spent, 'the tab that is seen again');
  await context.close();
});

test('a page that finds no place among the streams asks every two seconds, and says so', async () => {
  const page = await open(chrome, 'about:blank');
  let refuse = true;
  await page.route('**/api/v1/stream*', (route) => (refuse ? route.fulfill({status: 503, contentType: 'application/json', body: '{"error": {"message": "busy"}}'}) : route.continue()));
  await page.goto(server.base + '#/s/log');
  await page.waitForFunction(() => /live, every 2 s/.test(document.querySelector('.live')?.innerText));
  const [report] = await place.append('log', 1, 0);
  await until(async () => (await spent(page)) === report.spent, 'the number that was asked for');
  refuse = false;
  await page.waitForFunction(() => /^. live$/.test(document.querySelector('.live').innerText));
  await page.goto(server.base + '#/');
  refuse = true;
  await page.reload();
  await page.waitForFunction(() => /live, every 2 s/.test(document.querySelector('.live')?.innerText));
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});
