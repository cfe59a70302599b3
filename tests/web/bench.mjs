// Measures the dashboard against its targets (make bench-web), as a table for docs/dashboard.md. Never fails for being slow:
// times are those of an idle machine with two cores.
import {readFileSync, readdirSync} from 'node:fs';
import {gzipSync} from 'node:zlib';
import {Place, browser, go, open} from './harness.mjs';

const place = new Place(), chrome = await browser();
const trials = Number(process.env.TRIALS || 10000), epochs = Number(process.env.EPOCHS || 100);
const figure = (what, value, target) => console.log('| ' + what + ' | ' + value + ' | ' + (target ?? '') + ' |');
console.log('| what | measured | target |\n| --- | ---: | ---: |');
const fields = (path) => readFileSync(path, 'utf8').split(') ')[1].split(' ');
const seconds = (f) => (Number(f[11]) + Number(f[12])) / 100;
const ticks = (pid) => seconds(fields(`/proc/${pid}/stat`));
// Of the planner's thread alone: the one that runs at a lower priority.
const planning = (pid) => readdirSync(`/proc/${pid}/task`).map((task) => fields(`/proc/${pid}/task/${task}/stat`)).filter((f) => Number(f[16]) > 0).reduce((sum, f) => sum + seconds(f), 0);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
try {
  place.finished('small', {budget: '"1000 epochs"', epochs: 10, policy: 'random'});
  figure('events of a study with ' + trials + ' trials of ' + epochs + ' epochs', place.recorded('large', trials, epochs));
  place.recorded('growing', 1, 40000, 1);
  place.recorded('hundred', 100, epochs, 1);
  const server = await place.serve('--port', '0');
  const begin = Date.now(), api = async (path) => (await fetch(server.base + 'api/v1/' + path, {headers: {Authorization: 'Bearer ' + server.token}})).json();
  await api('studies');
  figure('server answers with the list', Date.now() - begin + ' ms');
  while ((await api('studies')).studies.some((s) => s.state === 'loading')) await pause(20);
  figure('server has opened all of it', Date.now() - begin + ' ms', '3 s');
  const idle = ticks(server.child.pid), seq = (await api('studies/growing')).seq;
  await place.append('growing', 20000, -1);
  while ((await api('studies/growing')).seq < seq + 20000) await pause(20);
  figure('each event that comes later', (1e6 * (ticks(server.child.pid) - idle) / 20000).toFixed(1) + ' \u00b5s', '5 \u00b5s');
  const single = await place.serve('large', '--port', '0');
  while ((await (await fetch(single.base + 'api/v1/studies', {headers: {Authorization: 'Bearer ' + single.token}})).json()).studies.some((s) => s.state === 'loading')) await pause(20);
  await pause(1000);
  figure('memory of a server of that study alone', Math.round(memory(single.child.pid)) + ' MB', Math.round(25 + 60e-6 * trials * epochs) + ' MB');
  single.child.kill('SIGINT');
  const script = await (await fetch(server.base + 'app.js')).text(), style = await (await fetch(server.base + 'style.css')).text();
  figure('script; compressed', Math.round(script.length / 1000) + ' kB; ' + Math.round(gzipSync(script).length / 1000) + ' kB', '90 kB; 30 kB');
  figure('style; compressed', Math.round(style.length / 1000) + ' kB; ' + Math.round(gzipSync(style).length / 1000) + ' kB', '12 kB; 4 kB');
  const page = await open(chrome, server.address);
  await page.getByRole('link', {name: 'small'}).waitFor();
  const time = async (what, route, condition, target) => {
    await page.goto('about:blank');
    const from = Date.now();
    await page.goto(server.base + '#' + route);
    await page.waitForFunction(condition, null, {polling: 20, timeout: 60000});
    figure(what, Date.now() - from + ' ms', target);
  };
  await time('100 trials: five questions answered', '/s/small', () => document.querySelector('#best-value') && document.querySelector('#chart-outlook .plot:not([hidden])'), '500 ms');
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  figure('100 trials: first paint', Math.round(paint) + ' ms', '200 ms');
  await time(`${trials} x ${epochs}: cards`, '/s/large', () => document.querySelector('#best-value'), '1 s');
  await time(`${trials} x ${epochs}: curves drawn`, '/s/large/curves', () => { const f = document.querySelector('#chart-curves'); return f && f.chart.done && f.chart.spec.marks && f.chart.spec.marks[0].next > 0; }, '2.5 s');
  figure('main thread blocked at most', Math.round(await page.evaluate(() => new Promise((done) => { let most = 0; new PerformanceObserver((l) => { l.getEntries().forEach((e) => { most = Math.max(most, e.duration); }); }).observe({type: 'longtask', buffered: true}); setTimeout(() => done(most), 500); }))) + ' ms', '50 ms');
  figure('redraw of all points', Math.round(await page.evaluate(() => new Promise((done) => { const c = document.querySelector('#chart-curves').chart; let busy = 0; const own = c.marks.bind(c); c.marks = (...a) => { const t = performance.now(); own(...a); busy += performance.now() - t; if (c.done) done(busy); }; c.redraw(); }))) + ' ms of main thread', '200 ms');
  figure('hover', (await page.evaluate(() => { const c = document.querySelector('#chart-curves').chart, t = performance.now(); for (let i = 0; i < 20; ++i) { c.nearest(100 + 20 * i, 100); c.drawOver(); } return (performance.now() - t) / 20; })).toFixed(1) + ' ms', '4 ms');
  const devtools = await page.context().newCDPSession(page), metric = async (name) => (await devtools.send('Performance.getMetrics')).metrics.find((m) => m.name === name).value;
  await devtools.send('Performance.enable');
  await devtools.send('HeapProfiler.collectGarbage');
  const arrays = await page.evaluate(() => document.querySelector('#chart-curves').chart.spec.marks[0].curves.reduce((sum, c) => sum + c.values.byteLength + c.costs.byteLength, 0));
  figure('memory of the page, with all curves', Math.round((await metric('JSHeapUsedSize') + arrays) / 1e6) + ' MB', '100 MB');
  await go(page, server, '/s/hundred/curves');
  await pause(3000);
  const [scripted, whole] = [await metric('ScriptDuration'), await metric('TaskDuration')];
  await place.append('hundred', 30, 0.3);
  figure('100 trials: one live report: script; all work of the main thread', (1000 * (await metric('ScriptDuration') - scripted) / 30).toFixed(1) + ' ms; ' + (1000 * (await metric('TaskDuration') - whole) / 30).toFixed(1) + ' ms', '4 ms');
  await go(page, server, '/s/large/trials');
  await page.waitForSelector('table.trials tbody th');
  figure('rows of the table in the document', await page.locator('table.trials tbody tr:not([aria-hidden])').count(), '50');
  figure('scrolling, longest frame', (await page.evaluate(() => new Promise((done) => { const box = document.querySelector('.virtual'); let last = performance.now(), most = 0, n = 0; const step = () => { const t = performance.now(); most = Math.max(most, t - last); last = t; box.scrollTop += 700; if (++n < 60) requestAnimationFrame(step); else done(most); }; requestAnimationFrame(() => { last = performance.now(); requestAnimationFrame(step); }); }))).toFixed(0) + ' ms', '16 ms');
  await go(page, server, '/s/small');
  await pause(20000);  // the planner has finished
  const before = ticks(server.child.pid), watched = Date.now();
  await pause(10000);
  figure('idle with one viewer', (100 * (ticks(server.child.pid) - before) / ((Date.now() - watched) / 1000)).toFixed(2) + ' % of a core', '0.5 %');
  place.study('live', {delay: 0.15, budget: '600s'});
  const run = place.start('run', 'live.yaml', '-q');
  await page.goto(server.base + '#/');
  await page.getByRole('link', {name: 'live', exact: true}).waitFor({timeout: 60000});
  await go(page, server, '/s/live');
  const late = await page.evaluate(() => new Promise((done) => {
    const waits = [], source = new EventSource('api/v1/stream?at=live:999999999');
    source.addEventListener('status', (event) => {
      waits.push(Date.now() - 1000 * JSON.parse(event.data).changed);
      if (waits.length === 60) { source.close(); done(waits.sort((a, b) => a - b)); }
    });
  }));
  figure('from a commit to the page: median; 95 %', Math.round(late[30]) + ' ms; ' + Math.round(late[57]) + ' ms', '150 ms; 300 ms');
  const planned = planning(server.child.pid), since = Date.now();
  await pause(20000);
  figure('planner, while two workers train', (100 * (planning(server.child.pid) - planned) / ((Date.now() - since) / 1000)).toFixed(1) + ' % of a core', '20 %');
  process.kill(-run.pid, 'SIGKILL');
  await page.close();
  await pause(3000);
  const alone = ticks(server.child.pid);
  await pause(5000);
  figure('idle with no viewer', (100 * (ticks(server.child.pid) - alone) / 5).toFixed(2) + ' % of a core', '0');
} finally {
  await chrome.close();
  place.remove();
}
