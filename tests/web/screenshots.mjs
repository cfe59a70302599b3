// Makes the pictures of docs/dashboard.md and of the README: node screenshots.mjs DIRECTORY. With ALL=1 every page, light and
// dark, 1280 and 360 pixels wide. Look at every one of them.
import {mkdirSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {Place, browser, go, open, until} from './harness.mjs';

const out = resolve(process.argv[2]), place = new Place(), chrome = await browser();
mkdirSync(out, {recursive: true});
try {
  place.finished('second', {policy: 'hyperband', budget: '"400 epochs"'});
  const budget = Number(process.env.BUDGET || 100);
  place.study('mlp', {delay: Number(process.env.DELAY || 0.1), budget: budget + 's', epochs: 40, fail: 0.04});
  place.start('run', 'mlp.yaml', '-q');
  const server = await place.serve('--port', '0');
  const spent = () => { try { return place.json('status', 'mlp').budget.spent; } catch { return 0; } };
  await until(() => spent() > Number(process.env.AFTER || 0.45) * budget, 'the study to be under way', 900);
  const shot = async (name, route, {width = 1280, scheme = 'light', full = false, wait = null} = {}) => {
    const page = await open(chrome, server.address, {width, scheme, height: width > 600 ? 900 : 740});
    await go(page, server, route);
    if (wait) await page.waitForFunction(wait, null, {timeout: 90000}).catch(() => console.log(name, 'shows no', wait));
    await page.waitForTimeout(1500);
    for (const wrong of page.wrong) console.log(name, wrong);
    await page.screenshot({path: join(out, 'dashboard-' + name + '.png'), fullPage: full});
    await page.context().close();
  };
  const planned = () => document.querySelector('#chart-outlook .slider') && !document.querySelector('#chart-outlook .slider').hidden;
  const forecast = () => /Dashed/.test(document.querySelector('#chart-curves figcaption').innerText);
  await shot('overview', '/s/mlp', {wait: planned});
  await shot('overview-dark', '/s/mlp', {scheme: 'dark', wait: planned});
  await shot('phone', '/s/mlp', {width: 360, full: true, wait: planned});
  await shot('phone-dark', '/s/mlp', {width: 360, scheme: 'dark', full: true, wait: planned});
  await shot('curves', '/s/mlp/curves', {wait: forecast});
  await shot('plan', '/s/mlp/plan', {wait: () => document.querySelector('#chart-plan-cost .plot:not([hidden])')});
  await shot('budget', '/s/mlp/budget', {wait: () => document.querySelector('#chart-burndown .plot:not([hidden])')});
  const decisions = place.json('explain', 'mlp'), told = decisions.filter((d) => d.reason && d.reason.forecast).at(-4);
  await shot('decisions-dark', '/s/mlp/decisions' + (told ? '?open=' + told.seq : ''), {scheme: 'dark'});
  await shot('params', '/s/mlp/params');
  await shot('model-dark', '/s/mlp/model', {scheme: 'dark', full: true});
  if (process.env.ALL) {
    const pages = {studies: '/', overview: '/s/mlp', curves: '/s/mlp/curves', trials: '/s/mlp/trials', plan: '/s/mlp/plan', budget: '/s/mlp/budget', decisions: '/s/mlp/decisions', params: '/s/mlp/params', model: '/s/mlp/model', trial: '/s/mlp/t/0', compare: '/compare?s=mlp,second'};
    for (const [name, route] of Object.entries(pages)) {
      for (const scheme of ['light', 'dark']) for (const width of [1280, 360]) await shot('all-' + name + '-' + scheme + '-' + width, route, {scheme, width, full: true});
    }
  }
} finally {
  await chrome.close();
  place.remove();
}
