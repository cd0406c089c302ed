// npm test: everything a contributor needs to know, step by step, stopping at the first failure.
// npm run lint runs the steps that only read; npm test -- NAME... runs the named steps.
import fs from 'node:fs';
import path from 'node:path';
import { buildVsix } from './lib/build.mjs';
import { ensureChromium } from './lib/chromium.mjs';
import { ensureCodeServer } from './lib/codeserver.mjs';
import { checkManifest } from './lib/manifest.mjs';
import { ensureNodeModules } from './lib/node.mjs';
import { ensureVenv, venvProgram } from './lib/python.mjs';
import { EXTENSION, Failure, main, ROOT, run, say } from './lib/run.mjs';

const bin = (name) => path.join(ROOT, 'node_modules/.bin', name);
const show = { show: true };

/** Every step: its name, whether it belongs to `lint`, and what it does; a step may give `{passed, skipped}` counts. */
const STEPS = [
  { name: 'ruff', lint: true, run: () => run(venvProgram('ruff'), ['check', '.'], show) },
  { name: 'mypy', lint: true, run: () => run(venvProgram('mypy'), [], show) },
  { name: 'imports', lint: true, run: () => run(venvProgram('lint-imports'), [], show) },
  { name: 'drift', lint: true, run: drift },
  { name: 'tsc', lint: true, run: () => run(bin('tsc'), ['--noEmit', '-p', EXTENSION], show) },
  { name: 'pytest', run: pytest },
  { name: 'vitest', run: vitest },
  { name: 'e2e', run: endToEnd },
];

async function drift() {
  await run(venvProgram('python'), ['-m', 'chatls_server.generate', '--check'], show);
  checkManifest();
}

async function pytest() {
  const { output } = await run(venvProgram('pytest'), ['-n', '2', '--color=no'], show);
  return counts(output, /(\d+) passed/g, /(\d+) skipped/g);
}

async function vitest() {
  const { output } = await run(bin('vitest'), ['run', '--root', EXTENSION, '--no-color'], show);
  return counts(output, /Tests\s.*?(\d+) passed/g, /Tests\s.*?(\d+) skipped/g);
}

async function endToEnd() {
  const [browser, codeServer, vsix] = [await ensureChromium(), await ensureCodeServer(), await buildVsix()];
  const folder = path.join(ROOT, 'tests/e2e');
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.test.mjs')).map((name) => path.join(folder, name));
  const env = {
    ...process.env,
    CHATLS_E2E: JSON.stringify({ browser, codeServer, vsix, python: venvProgram('python'), server: venvProgram('chatls') }),
  };
  const options = ['--test', '--test-reporter=spec', '--test-concurrency=1'];
  const { output } = await run(process.execPath, [...options, ...files], { show: true, env });
  return counts(output, /^ℹ pass (\d+)/gm, /^ℹ skipped (\d+)/gm);
}

/** Adds up what a runner's closing lines say. */
function counts(output, passed, skipped) {
  const sum = (pattern) => [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0);
  return { passed: sum(passed), skipped: sum(skipped) };
}

const seconds = (since) => ((Date.now() - since) / 1000).toFixed(1);
const line = (text) => ` ${text} `.padStart(40 + Math.ceil(text.length / 2), '=').padEnd(80, '=');

main(async () => {
  const words = process.argv.slice(2);
  const lint = words[0] === 'lint';
  const names = lint ? words.slice(1) : words;
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name));
  if (unknown.length) throw new Failure(`No step is called ${unknown.join(', ')}; there are ${STEPS.map((s) => s.name).join(', ')}.`);
  const chosen = STEPS.filter((step) => (names.length ? names.includes(step.name) : !lint || step.lint));
  const began = Date.now();
  await ensureVenv();
  await ensureNodeModules();
  const done = [];
  let total = { passed: 0, skipped: 0 };
  for (const step of chosen) {
    say(`${step.name}`);
    const since = Date.now();
    try {
      const counted = await step.run();
      const passed = counted?.passed ?? 0;
      if (counted?.passed === 0) throw new Failure(`${step.name} ran no test at all.`);
      total = { passed: total.passed + passed, skipped: total.skipped + (counted?.skipped ?? 0) };
      done.push(`${step.name.padEnd(8)} ${passed ? `${passed} passed` : 'clean'} in ${seconds(since)}s`);
    } catch (error) {
      const rest = chosen.slice(chosen.indexOf(step) + 1).map((s) => s.name);
      process.stdout.write(`\n${[...done, `${step.name.padEnd(8)} FAILED in ${seconds(since)}s`].join('\n')}\n`);
      if (rest.length) process.stdout.write(`not run: ${rest.join(', ')}\n`);
      process.stdout.write(`${line(`1 failed (${step.name}), ${total.passed} passed in ${seconds(began)}s`)}\n`);
      process.stdout.write(`Run it alone with: npm test -- ${step.name}\n`);
      throw error;
    }
  }
  const skipped = total.skipped ? `, ${total.skipped} skipped` : '';
  process.stdout.write(`\n${done.join('\n')}\n${line(`${total.passed} passed${skipped} in ${seconds(began)}s`)}\n`);
});
