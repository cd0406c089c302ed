// Finds every text the extension shows, so that a test can hold the translations complete.
import fs from 'node:fs';
import path from 'node:path';
import { EXTENSION } from './run.mjs';

const CALL = /(?:\bl10n\.t|\bt|\bnew No\w+Error)\(\s*'((?:[^'\\]|\\.)*)'/g;

function* sources(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (entry.name.endsWith('.ts')) yield file;
  }
}

/** The English texts of every `l10n.t('…')`, `t('…')` and translated error, sorted. */
export function shownStrings() {
  const found = new Set();
  for (const file of sources(path.join(EXTENSION, 'src'))) {
    for (const match of fs.readFileSync(file, 'utf8').matchAll(CALL)) found.add(match[1].replace(/\\(.)/g, '$1'));
  }
  return [...found].sort();
}
