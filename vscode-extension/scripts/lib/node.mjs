// Keeps node_modules up to date with the lock file.
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, run, say } from './run.mjs';

/** Runs `npm ci` unless node_modules was installed after the lock file last changed. */
export async function ensureNodeModules() {
  const changed = (name) => fs.statSync(path.join(ROOT, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // npm writes this hidden copy of the lock file at the end of every installation.
  if (changed('node_modules/.package-lock.json') >= changed('package-lock.json')) return;
  say('Installing the Node packages');
  await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--no-progress']);
}
