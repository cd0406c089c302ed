// A folder that is not trusted, and then is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Editor, FakeModel, launchBrowser, Workbench } from './harness.mjs';

let model;
let editor;
let browser;
let wb;

before(async () => {
  [model, browser] = await Promise.all([FakeModel.start(), launchBrowser()]);
  editor = await Editor.start({
    trust: true,
    settings: { 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never' },
    files: { 'a.txt': 'hello\n', 'AGENTS.md': 'Say ahoy.\n' },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url },
  });
  wb = await Workbench.open(browser, editor, 'trust');
  await wb.openChat();
  await wb.widenSideBar();
  await wb.ready();
});

after(async () => {
  await wb?.shot('last');
  await browser?.close();
  await editor?.stop();
  await model?.stop();
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
