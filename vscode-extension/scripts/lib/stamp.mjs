// Skips work whose inputs have not changed: a stamp file holds a hash of what went in.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const IGNORED = new Set(['node_modules', '__pycache__', 'dist', '.venv', '.git']);

function* filesBelow(item) {
  const stat = fs.statSync(item, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) {
    yield item;
    return;
  }
  for (const name of fs.readdirSync(item).sort()) {
    if (!IGNORED.has(name)) yield* filesBelow(path.join(item, name));
  }
}

/** A hash over the names and contents of files and folders, plus any extra strings. */
export function digest(items, ...extra) {
  const hash = createHash('sha256');
  for (const item of items) {
    for (const file of filesBelow(item)) hash.update(`${file}\0`).update(fs.readFileSync(file)).update('\0');
  }
  for (const text of extra) hash.update(`${text}\0`);
  return hash.digest('hex');
}

/** Runs `work` unless `stampFile` says that it ran with this `key`; the stamp is written only after success. */
export async function once(stampFile, key, work) {
  if (fs.existsSync(stampFile) && fs.readFileSync(stampFile, 'utf8') === key) return false;
  fs.rmSync(stampFile, { force: true });
  await work();
  fs.mkdirSync(path.dirname(stampFile), { recursive: true });
  fs.writeFileSync(stampFile, key);
  return true;
}
