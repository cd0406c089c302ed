// npm run bench: runs every benchmark of tests/bench; each prints ratios against a baseline of the same run.
import fs from 'node:fs';
import path from 'node:path';
import { ensureVenv } from './lib/python.mjs';
import { Failure, main, ROOT, run, say } from './lib/run.mjs';

main(async () => {
  const python = await ensureVenv();
  const wanted = process.argv.slice(2);
  const names = fs
    .readdirSync(path.join(ROOT, 'tests/bench'))
    .filter((name) => name.endsWith('_bench.py'))
    .map((name) => name.slice(0, -3))
    .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  if (names.length === 0) throw new Failure(`No benchmark of tests/bench is called ${wanted.join(' or ')}.`);
  for (const name of names) {
    say(name);
    await run(python, ['-m', `tests.bench.${name}`], { show: true });
  }
});
