// Every page of the dashboard in every state of a study. node --test states.spec.mjs
import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Place, assertSound, go, leave, open, stage, until} from './harness.mjs';

const PAGES = ['', '/curves', '/trials', '/plan', '/budget', '/decisions', '/params', '/model', '/t/0'];

let chrome, place, server;

before(async () => {
  ({chrome, place, server} = await stage(prepare, '--read-only', '--no-token'));
});
after(() => leave({chrome, place}));

async function prepare(made) {
  made.finished('finished');
  made.finished('failed', {fail: 1});
  made.changed('finished', 'new', 'DELETE FROM event; UPDATE study SET decisions = 0');
  made.changed('finished', 'damaged', 'DELETE FROM event WHERE seq = 60');
  mkdirSync(join(made.dir, 'bad.bapi'));
  writeFileSync(join(made.dir, 'bad.bapi', 'study.db'), 'no database');
  made.study('starting', {delay: 600, budget: '6000s'});
  made.study('running', {delay: 0.5, budget: '6000s'});
  made.study('interrupted', {delay: 0.02, budget: '600s'});
  for (const name of ['starting', 'running']) made.start('run', name + '.yaml', '-q');
  const cut = made.start('run', 'interrupted.yaml', '-q');
  const known = (name) => { try { return made.json('status', name); } catch { return null; } };
  await until(() => known('interrupted')?.trials.paused > 3, 'a study to interrupt');
  process.kill(cut.pid, 'SIGKILL');
  await until(() => known('running')?.best && known('starting')?.trials.running, 'studies that run');
}

// What the overview of each says besides its state, and what pages say that have nothing to show yet.
const NOTHING = {'': /No report yet/, '/curves': /No trial has started yet|No report yet/, '/trials': /\d trial/, '/plan': /no trial has reported|planner waits|planner is at work/i, '/budget': /Nothing has been spent yet|0 s of 1h40m spent/, '/decisions': /\d decision/, '/params': /No report yet/, '/model': /No predicted epoch has been reached yet/, '/t/0': /No report yet|There is no trial 0/i};
const STATES = {
  new: [/^. new/, NOTHING],
  starting: [/^. running/, {...NOTHING, '': /No report yet[\s\S]*starting for/}],
  running: [/^. running[\s\S]*2 of 2 workers busy/, {'': /ends about \d\d:\d\d:\d\d/, '/decisions': /start trial/}],
  interrupted: [/^. interrupted[\s\S]*Interrupted, nothing is lost/, {'': /bapi resume interrupted\.bapi/}],
  finished: [/^. finished[\s\S]*Finished: the budget is spent/, {'': /150 epochs bought \d+ trials/, '/t/0': /epoch 1/}],
  failed: [/\d+ failed[\s\S]*failed in a row/, {'': /End of the log of trial[\s\S]*No report yet/, '/t/0': /Failed: [\s\S]*it failed/}],
  damaged: [/The log is damaged/, {}],
};

for (const width of [1280, 360]) {
  for (const [study, [line, says]] of Object.entries(STATES)) {
    test(`every page of a study that is ${study} says so at ${width} px`, async () => {
      const page = await open(chrome, server.base, {width, height: 740});
      for (const part of PAGES) {
        await go(page, server, '/s/' + study + part);
        await until(async () => line.test(await page.locator('.stateline').locator('..').innerText()), study + part + ' telling its state as ' + line);
        if (says[part]) await until(async () => says[part].test(await page.locator('main').innerText()), study + part + ' saying ' + says[part]);
        await assertSound(page, study + part);
        assert.equal(await page.locator('h1').count(), 1);
      }
      await page.context().close();
    });
  }
}

test('the list tells every state in words, and keeps what it cannot read', async () => {
  const page = await open(chrome, server.base, {width: 320, height: 700});
  await go(page, server, '/');
  const text = await until(async () => { const found = await page.locator('main').innerText(); return !/being read/.test(found) && found; }, 'all studies to be read');
  for (const [name, state] of [['new', 'new'], ['starting', 'running'], ['running', 'running'], ['interrupted', 'interrupted'], ['finished', 'finished'], ['bad', 'unreadable']]) {
    assert.match(text, new RegExp(name + '\\n[\\s\\S]{0,30}' + state), name);
  }
  assert.match(text, /study\.db/);
  assert.ok(text.indexOf('running') < text.indexOf('finished'), 'running ones come first');
  await assertSound(page, 'the list');
  await page.goto(server.base + '#/s/bad');
  await until(async () => /study\.db/.test(await page.locator('main').innerText()), 'the message of the store');
  await page.goto(server.base + '#/s/none');
  await until(async () => /no such study/.test(await page.locator('main').innerText()), 'the answer for a study that is not there');
  await page.context().close();
});

test('without a study the list says where it looked and how to begin', async () => {
  const empty = new Place();
  const page = await open(chrome, 'about:blank');
  try {
    const own = await empty.serve('--port', '0', '--read-only', '--no-token');
    await page.goto(own.base);
    await until(async () => /No study yet[\s\S]*Searched: [\s\S]*bapi run study\.yaml/.test(await page.locator('main').innerText()), 'the commands to begin with');
    empty.finished('first', {budget: '"6 epochs"', policy: 'random'});
    await page.getByRole('link', {name: 'first', exact: true}).waitFor();  // by itself
    assert.deepEqual(page.wrong, []);
  } finally {
    await page.context().close();
    empty.remove();
  }
});
