// Pictures of every page, light and dark, 1280 and 360 pixels wide, against those in screenshots/: at most 0.1 % of the
// pixels may differ. After a change that is meant, look at the new ones in screenshots/new and accept them:
// UPDATE=1 node --test pictures.spec.mjs
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {go, leave, open, stage, until} from './harness.mjs';

const KEPT = join(dirname(fileURLToPath(import.meta.url)), 'screenshots'), NEW = join(KEPT, 'new');
const SHARE = 0.001, LEVELS = 12;  // of the pixels; of each colour
const planned = () => { const s = document.querySelector('#chart-outlook .slider'); return s && !s.hidden; };
const forecast = () => /Dashed/.test(document.querySelector('#chart-curves figcaption').innerText);
const finals = () => /80 %/.test(document.querySelector('.legend').innerText);
const proof = () => !/at work/.test(document.querySelector('#chart-certificate').innerText);
const PAGES = {studies: ['/'], overview: ['/s/mlp', planned], curves: ['/s/mlp/curves', forecast], trials: ['/s/mlp/trials?sort=-best'], plan: ['/s/mlp/plan', planned], budget: ['/s/mlp/budget'], decisions: ['/s/mlp/decisions'], params: ['/s/mlp/params', finals], model: ['/s/mlp/model', proof], trial: ['/s/mlp/t/0'], compare: ['/compare?s=mlp,hyperband']};

let chrome, place, server, judge;

before(async () => {
  ({chrome, place, server} = await stage(prepare, '--read-only', '--no-token'));
  judge = await (await chrome.newContext()).newPage();
  rmSync(NEW, {recursive: true, force: true});
});
after(() => leave({chrome, place}));

async function prepare(made) {
  // With a budget in epochs and one worker a study is the same on every machine, but for its times: noon, two days ago.
  const noon = (Math.floor(Date.now() / 86400000) - 2) * 86400 + 43200;
  for (const [name, policy] of [['mlp', 'bapi'], ['hyperband', 'hyperband']]) {
    made.finished('made-' + name, {policy, workers: 1, budget: '"120 epochs"', delay: 0.05});  // slow enough to copy every checkpoint
    if (name === 'mlp') await more(made, 'made-' + name, '200 epochs');  // so that something is left to plan
    made.changed('made-' + name, name, `UPDATE event SET at = ${noon} + 0.9 * seq`);
    rmSync(made.log('made-' + name), {recursive: true});
  }
}

// Raises the budget of a study that nothing runs.
async function more(place, name, total) {
  const own = await place.serve(name, '--port', '0');
  const answer = await fetch(own.base + 'api/v1/studies/' + name + '/requests', {method: 'POST', headers: {Authorization: 'Bearer ' + own.token, Origin: own.base.slice(0, -1), 'Content-Type': 'application/json', 'X-Bapi': '1'}, body: JSON.stringify({action: 'budget', total})});
  assert.equal(answer.status, 202);
  own.child.kill('SIGINT');
}

async function picture(route, shows, scheme, width) {
  const page = await open(chrome, server.base, {width, height: width > 600 ? 900 : 740, scheme});
  await go(page, server, route);
  if (shows) await until(() => page.evaluate(shows).catch(() => false), route + ' showing all of it');
  // A tab that nobody sees does not change any more.
  await page.waitForFunction(() => /^. live$/.test(document.querySelector('.live').innerText));
  await page.evaluate(() => { Object.defineProperty(document, 'hidden', {value: true}); document.dispatchEvent(new Event('visibilitychange')); });
  await page.evaluate((dir) => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(dir, '/studies').replace(/\b[\dhmd]+( s)? ago/g, '2 days ago');
  }, place.dir);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const shot = await page.screenshot();
  await page.context().close();
  return shot.toString('base64');
}

// Half as wide and high, in few colours: what is kept takes little room and still shows every label.
const small = (shot) => judge.evaluate(async ([address, levels]) => {
  const image = await createImageBitmap(await (await fetch(address)).blob()), canvas = document.createElement('canvas'), ctx = canvas.getContext('2d');
  canvas.width = Math.floor(image.width / 2);
  canvas.height = Math.floor(image.height / 2);
  ctx.imageSmoothingQuality = 'high';
  ctx.drawImage(image, 0, 0, canvas.width, canvas.height);
  const pixels = ctx.getImageData(0, 0, canvas.width, canvas.height), step = 255 / (levels - 1);
  for (let i = 0; i < pixels.data.length; ++i) pixels.data[i] = Math.round(Math.round(pixels.data[i] / step) * step);
  ctx.putImageData(pixels, 0, 0);
  return canvas.toDataURL('image/png');
}, ['data:image/png;base64,' + shot, LEVELS]);

// The share of pixels that differ by more than the step between two levels.
const difference = (a, b) => judge.evaluate(async ([left, right, step]) => {
  const pixels = async (address) => {
    const image = await createImageBitmap(await (await fetch(address)).blob()), canvas = new OffscreenCanvas(image.width, image.height), ctx = canvas.getContext('2d');
    ctx.drawImage(image, 0, 0);
    return {size: image.width + ' x ' + image.height, data: ctx.getImageData(0, 0, image.width, image.height).data};
  };
  const [x, y] = [await pixels(left), await pixels(right)];
  if (x.size !== y.size) return 1;
  let count = 0;
  for (let i = 0; i < x.data.length; i += 4) if ([0, 1, 2].some((k) => Math.abs(x.data[i + k] - y.data[i + k]) > step)) ++count;
  return 4 * count / x.data.length;
}, [a, b, 1.5 * 255 / (LEVELS - 1)]);

for (const [name, [route, shows]] of Object.entries(PAGES)) {
  test(`the page ${name} looks as it did`, async () => {
    for (const scheme of ['light', 'dark']) {
      for (const width of [1280, 360]) {
        const file = `${name}-${scheme}-${width}.png`, kept = join(KEPT, file), shot = await picture(route, shows, scheme, width), now = await small(shot);
        if (process.env.UPDATE) {
          mkdirSync(KEPT, {recursive: true});
          writeFileSync(kept, Buffer.from(now.split(',')[1], 'base64'));
          continue;
        }
        assert.ok(existsSync(kept), file + ' is missing: UPDATE=1 makes it');
        const share = await difference(now, 'data:image/png;base64,' + readFileSync(kept).toString('base64'));
        if (share > SHARE) {
          mkdirSync(NEW, {recursive: true});
          writeFileSync(join(NEW, file), Buffer.from(shot, 'base64'));
        }
        assert.ok(share <= SHARE, `${file}: ${(100 * share).toFixed(2)} % of the pixels differ; the new picture is in ${NEW}`);
      }
    }
  });
}
