// Makes the pictures of docs/dashboard.md: node screenshots.mjs DIRECTORY. Look at every one of them.
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {Place, browser, go, open} from './harness.mjs';

const out = process.argv[2];
mkdirSync(out, {recursive: true});
const place = new Place(), chrome = await browser();
try {
  place.finished('second', {policy: 'hyperband', budget: '"400 epochs"'});
  place.study('mlp', {delay: Number(process.env.DELAY || 0.1), budget: process.env.BUDGET || '100s', epochs: 40, fail: 0.04});
  place.start('run', 'mlp.yaml', '-q');
  const server = await place.serve('--port', '0');
  const first = await open(chrome, server.address);
  await go(first, server, '/s/mlp');
  await first.waitForFunction((share) => { const s = document.querySelector('#spent-value'); return s && Number(s.title) > share; }, Number(process.env.AFTER || 55), {timeout: 400000, polling: 500});
  const shot = async (name, route, {width = 1280, scheme = 'light', full = false, wait = null} = {}) => {
    const page = await open(chrome, server.address, {width, scheme, height: width > 600 ? 900 : 740});
    await go(page, server, route);
    if (wait) await page.waitForFunction(wait, null, {timeout: 60000}).catch(() => console.log(name, 'shows no', wait));
    await page.waitForTimeout(1500);
    for (const wrong of page.wrong) console.log(name, wrong);
    await page.screenshot({path: join(out, 'dashboard-' + name + '.png'), fullPage: full});
    await page.context().close();
  };
  const planned = () => document.querySelector('#chart-outlook .slider') && !document.querySelector('#chart-outlook .slider').hidden;
  await shot('overview', '/s/mlp', {wait: planned});
  await shot('overview-dark', '/s/mlp', {scheme: 'dark', wait: planned});
  await shot('phone', '/s/mlp', {width: 360, full: true, wait: planned});
  await shot('phone-dark', '/s/mlp', {width: 360, scheme: 'dark', full: true, wait: planned});
  await shot('curves', '/s/mlp/curves');
  await shot('plan', '/s/mlp/plan', {wait: () => document.querySelector('#chart-plan-cost .plot:not([hidden])')});
  await shot('budget', '/s/mlp/budget');
  const decisions = place.json('explain', 'mlp'), told = decisions.filter((d) => d.reason && d.reason.forecast).at(-4);
  await shot('decisions-dark', '/s/mlp/decisions' + (told ? '?open=' + told.seq : ''), {scheme: 'dark'});
  if (process.env.ALL) {
    const pages = {studies: '/', trials: '/s/mlp/trials', params: '/s/mlp/params', model: '/s/mlp/model', trial: '/s/mlp/t/0', compare: '/compare?s=mlp,second'};
    for (const [name, route] of Object.entries(pages)) {
      for (const scheme of ['light', 'dark']) for (const width of [1280, 360]) await shot('all-' + name + '-' + scheme + '-' + width, route, {scheme, width, full: true});
    }
  }
} finally {
  await chrome.close();
  place.remove();
}
