// A folder that is not trusted, and then is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scene } from './harness.mjs';

let model;
let wb;

scene('trust', {
  options: (model) => ({
    trust: true,
    settings: { 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never' },
    files: { 'a.txt': 'hello\n', 'AGENTS.md': 'Say ahoy.\n' },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url },
  }),
  use: (made) => ({ model, wb } = made),
});

test('an untrusted folder is named, and chat works', async () => {
  await wb.chat.getByText('This folder is not trusted').waitFor();
  await model.script({ text: 'Hello there.' });
  await wb.ask('Hello');
  await wb.chat.getByText('Hello there.').waitFor();
  await wb.shot('untrusted');
});

test('trusting it removes the banner without a reload', async () => {
  await wb.chat.getByRole('button', { name: 'Manage Trust' }).click();
  const trust = wb.page.getByRole('button', { name: /^Trust/ }).first();
  await trust.waitFor();
  await wb.shot('manage-trust');
  await trust.click();
  await wb.chat.getByText('This folder is not trusted').waitFor({ state: 'hidden' });
  await model.script({ text: 'Ahoy.' });
  await wb.ask('And now?');
  await wb.chat.getByText('Ahoy.').waitFor();
  assert.equal((await model.requests()).length, 2);
  await wb.shot('trusted');
});
