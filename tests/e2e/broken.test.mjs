// What the user sees when there is no server, and when it dies.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, prepared, scene } from './harness.mjs';

let model;
let editor;
let wb;

scene('broken', {
  options: (model) => ({
    settings: { 'chatls.server.path': '/nowhere/chatls', 'workbench.colorTheme': 'Default Dark Modern' },
    files: { 'a.txt': 'hello\n' },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url },
  }),
  ready: false,
  use: (made) => ({ model, editor, wb } = made),
});

test('a server that is not there is one card with what to do', async () => {
  await wb.chat.getByText('/nowhere/chatls, which is not a file').waitFor();
  await wb.chat.getByRole('button', { name: 'Restart' }).waitFor();
  assert.equal(await wb.notification('ChatLS').count(), 0, 'no toasts');
  await wb.shot('no-server');
});

test('a corrected setting starts it without a reload', async () => {
  const file = path.join(editor.profile.data, 'Machine', 'settings.json');
  const settings = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(file, JSON.stringify({ ...settings, 'chatls.server.path': prepared.server }));
  await wb.ready();
  await model.script({ text: 'Here I am.' });
  await wb.ask('Hello');
  await wb.chat.getByText('Here I am.').waitFor();
});

test('a server that is killed while it answers comes back by itself', async () => {
  await model.script({ text: 'This will not end', hold: [3] });
  await wb.ask('Tell me a story');
  await wb.chat.getByText('This will').waitFor();
  const pid = await eventually('the server’s process', () => serverProcess(editor.root));
  process.kill(pid, 'SIGKILL');
  await wb.chat.locator('.turn:last-child').getByRole('button', { name: /Continue|Retry/ }).waitFor({ timeout: 40_000 });
  await wb.ready();
  await wb.shot('after-crash');
  await model.script({ text: 'Alive again.' });
  await wb.ask('Still there?');
  await wb.chat.getByText('Alive again.').waitFor();
});

/** The process id of the server whose data folder is under `root`. */
function serverProcess(root) {
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const environment = fs.readFileSync(`/proc/${name}/environ`, 'utf8');
      if (command.includes('serve') && command.some((part) => part.endsWith('chatls')) && environment.includes(root)) return Number(name);
    } catch {
      // the process ended, or belongs to somebody else
    }
  }
  return undefined;
}
