// The page's script as TypeScript reads it: calls with wrong arguments, misspelt properties, names that nobody uses.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {dirname, join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

test('the script of the page has no type errors', () => {
  const script = join(here, '../../src/bapi/dashboard/assets/app.js');
  const checked = spawnSync(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '--allowJs', '--checkJs', '--noEmit', '--noUnusedLocals', '--target', 'es2022', '--module', 'es2022', '--lib', 'es2023,dom,dom.iterable', script], {encoding: 'utf8'});
  assert.equal(checked.stdout, '');
  assert.equal(checked.status, 0, checked.stderr);
});
