// Makes the pictures of docs/dashboard.md and of the README from a study of examples/mlp, next to one of another policy with
// the same budget (BUDGET seconds, 240): node screenshots.mjs DIRECTORY. On an idle machine, or both have less for it.
// With ALL=1 every page, light and dark, 1280 and 360 pixels wide. Look at every one of them.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {BAPI, Place, browser, go, open, until} from './harness.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..'), out = resolve(process.argv[2]), place = new Place(mkdirSync('/tmp/studies', {recursive: true})), chrome = await browser();
const budget = Number(process.env.BUDGET || 240), share = Number(process.env.AFTER || 0.45);
const example = readFileSync(join(root, 'examples/mlp/study.yaml'), 'utf8').replace('build/release/examples', join(dirname(BAPI), 'examples'));
const study = (name, policy, seconds) => writeFileSync(join(place.dir, name + '.yaml'), example.replace(/^name: .*/m, 'name: ' + name).replace(/^policy: .*/m, 'policy: ' + policy).replace(/^budget: \S+/m, 'budget: ' + seconds + 's').replace('cwd: ../..', 'cwd: ' + root));
const spent = (name) => { try { return place.json('status', name).budget.spent; } catch { return 0; } };
mkdirSync(out, {recursive: true});
try {
  study('hyperband', 'hyperband', budget);
  place.bapi('run', 'hyperband.yaml', '-q');
  study('mlp', 'bapi', budget);
  place.start('run', 'mlp.yaml', '-q');
  await until(() => spent('mlp') > share * budget, 'the study to be under way', 3600);
  const server = await place.serve('--port', '0');
  const shot = async (name, route, {width = 1280, scheme = 'light', full = false, shows = null} = {}) => {
    const page = await open(chrome, server.address, {width, scheme, height: width > 600 ? 900 : 740});
    await go(page, server, route);
    if (shows) await page.waitForFunction(shows).catch(() => console.log(name, 'shows no', shows));
    await page.waitForTimeout(500);  // what was drawn is on the screen
    for (const wrong of page.wrong) console.log(name, wrong);
    await page.screenshot({path: join(out, 'dashboard-' + name + '.png'), fullPage: full});
    await page.context().close();
  };
  const planned = () => { const slider = document.querySelector('#chart-outlook .slider'); return slider && !slider.hidden; };
  const forecast = () => /Dashed/.test(document.querySelector('#chart-curves figcaption').innerText);
  const plan = () => document.querySelector('#chart-plan-cost .plot:not([hidden])');
  const proof = () => document.querySelector('#chart-certificate .plot:not([hidden])');
  await shot('overview', '/s/mlp', {shows: planned});
  await shot('overview-dark', '/s/mlp', {scheme: 'dark', shows: planned});
  await shot('phone', '/s/mlp', {width: 360, full: true, shows: planned});
  await shot('phone-dark', '/s/mlp', {width: 360, scheme: 'dark', full: true, shows: planned});
  await shot('curves', '/s/mlp/curves', {shows: forecast});
  await shot('plan', '/s/mlp/plan', {shows: plan});
  await shot('budget', '/s/mlp/budget');
  const told = place.json('explain', 'mlp').filter((d) => d.reason && d.reason.forecast).at(-4);
  await shot('decisions-dark', '/s/mlp/decisions' + (told ? '?open=' + told.seq : ''), {scheme: 'dark'});
  await shot('params', '/s/mlp/params');
  await shot('model-dark', '/s/mlp/model', {scheme: 'dark', shows: proof});
  await shot('compare', '/compare?s=mlp,hyperband');
  if (process.env.ALL) {
    const pages = {studies: ['/'], overview: ['/s/mlp', planned], curves: ['/s/mlp/curves', forecast], trials: ['/s/mlp/trials'], plan: ['/s/mlp/plan', plan], budget: ['/s/mlp/budget'], decisions: ['/s/mlp/decisions'], params: ['/s/mlp/params'], model: ['/s/mlp/model', proof], trial: ['/s/mlp/t/0'], compare: ['/compare?s=mlp,hyperband']};
    for (const [name, [route, shows]] of Object.entries(pages)) {
      for (const scheme of ['light', 'dark']) for (const width of [1280, 360]) await shot('all-' + name + '-' + scheme + '-' + width, route, {scheme, width, full: true, shows});
    }
  }
} finally {
  await chrome.close();
  place.remove();
}
