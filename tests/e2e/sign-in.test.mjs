// Signing in to GitHub Copilot from a real VS Code: the code, the browser's page, the key in the editor's own storage.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, test } from 'node:test';
import { scene } from './harness.mjs';

const TOKEN = 'gho_0123456789abcdefghij';
let model;
let github;
let agreed = false;
let editor;
let wb;

/** GitHub's pages for the device code. */
function startGitHub() {
  const server = http.createServer((request, response) => {
    request.resume();
    const json = (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/login/device/code') {
      const { port } = server.address();
      json({ device_code: 'd', user_code: 'AB-12', verification_uri: `http://localhost:${port}/device`, expires_in: 900, interval: 0.2 });
    } else if (request.url === '/login/oauth/access_token') json(agreed ? { access_token: TOKEN } : { error: 'authorization_pending' });
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Device activation</title>Enter the code');
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

scene('sign-in', {
  options: async (model) => {
    github = await startGitHub();
    return {
      files: { 'a.txt': 'hello\n' },
      env: { GITHUB_SERVER_URL: `http://127.0.0.1:${github.address().port}`, GITHUB_API_URL: model.url, COPILOT_BASE_URL: model.url },
    };
  },
  ready: false,
  use: (made) => ({ model, editor, wb } = made),
});

after(() => {
  github?.close();
});

test('the picker says who is not available and why', async () => {
  await wb.command('Switch Model');
  const row = wb.page.locator('.quick-input-list .monaco-list-row', { hasText: 'GitHub Copilot' });
  await row.waitFor();
  await row.getByText('nobody is signed in').waitFor();
  await wb.shot('unavailable');
  await row.click();
});

test('signing in shows the code, opens the page and ends by itself', async () => {
  const dialog = wb.page.locator('.monaco-dialog-box');
  await dialog.getByText('AB-12').waitFor();
  await wb.shot('code');
  const opening = wb.page.context().waitForEvent('page');
  await dialog.getByRole('button', { name: 'Copy Code and Open Browser' }).click();
  const opened = await opening;
  await opened.waitForURL(/\/device$/);
  await opened.close();
  await wb.notification('Waiting for GitHub Copilot').waitFor();
  agreed = true;
  await wb.notification('Signed in to GitHub Copilot.').waitFor();
});

test('it answers with the key, which stands in no file', async () => {
  await wb.status.filter({ hasText: 'ready' }).waitFor();
  await model.script({ text: 'Hello from Copilot.' });
  await wb.ask('Hello');
  await wb.chat.getByText('Hello from Copilot.').waitFor();
  const request = (await model.requests()).at(-1);
  assert.equal(request.headers.authorization, `Bearer ${TOKEN}`);
  for (const name of fs.readdirSync(editor.root, { recursive: true })) {
    const file = path.join(editor.root, name);
    if (fs.statSync(file).isFile()) assert.ok(!fs.readFileSync(file).includes(TOKEN), file);
  }
});

test('the picker shows what its models take and cost', async () => {
  await wb.command('Switch Model');
  const row = wb.page.locator('.quick-input-list .monaco-list-row', { hasText: 'gpt-6.1-sol' }).first();
  await row.waitFor();
  await row.getByText(/tokens.* · .*tools/).waitFor();
  await wb.shot('models');
  await wb.page.keyboard.press('Escape');
});
