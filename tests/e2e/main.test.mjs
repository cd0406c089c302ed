// The main job in a real VS Code: ask, remember, obey, edit, come back.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { eventually, scene } from './harness.mjs';

const APP = 'def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a + a\n';

let model;
let editor;
let wb;

scene('main', {
  options: (model) => ({
    files: { 'src/app.py': APP, 'AGENTS.md': '# Rules\n\nAnswer briefly.\n', 'notes.txt': 'Deploys happen on Thursdays.\n' },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url, ANTHROPIC_MODEL: 'claude-sonnet-4-6' },
  }),
  use: (made) => ({ model, editor, wb } = made),
});

/** The newest turn of the panel. */
const lastTurn = () => wb.chat.locator('.turn').last();
const lastDone = () => wb.chat.locator('.turn:last-child[data-state="done"]');

/** The last user-role texts of a request, joined. */
function userText(request) {
  const users = request.json.messages.filter((message) => message.role === 'user');
  return JSON.stringify(users[users.length - 1].content);
}

test('an empty panel says what can be asked', async () => {
  await wb.chat.getByText('Ask about this workspace').waitFor();
  await wb.shot('welcome');
});

test('a question is answered while the model still writes', async () => {
  await wb.openFile('src/app.py');
  await model.script({
    text: 'It **subtracts**; see `src/app.py:2`.\n\n```python\ndef add(a, b):\n    return a + b\n```\n\nThat is all.',
    deltas: ['It **subtracts**; see `src/app.py:2`.\n\n', '```python\ndef add(a, b):\n', '    return a + b\n```\n\nThat is all.'],
    hold: [2],
  });
  await wb.ask('Why does add() fail?');
  await wb.chat.getByText('subtracts').waitFor();
  await wb.chat.locator('figure.code', { hasText: 'def add(a, b)' }).waitFor();
  assert.equal(await lastTurn().getAttribute('data-state'), 'running', 'the answer shows before it is complete');
  await wb.chat.getByLabel('Stop').waitFor();
  await wb.shot('streaming');
  await model.release();
  await lastDone().waitFor();
  await wb.chat.getByText('That is all.').waitFor();
  assert.equal(await lastTurn().locator('figure.code code').innerText(), 'def add(a, b):\n    return a + b\n');
  const [request] = await model.requests();
  assert.match(JSON.stringify(request.json), /Why does add\(\) fail\?/);
  assert.match(JSON.stringify(request.json), /Answer briefly\./, 'AGENTS.md reaches the model');
  await wb.shot('answered');
});

test('a file link opens the file at its line', async () => {
  await lastTurn().getByRole('link', { name: 'src/app.py:2' }).click();
  await wb.page.locator('.statusbar-item', { hasText: 'Ln 2,' }).waitFor();
});

test('code is inserted where the cursor is', async () => {
  await wb.command('Create: New File...');
  await wb.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Text File' }).first().click();
  await lastTurn().getByLabel('Insert at Cursor').click();
  await eventually('the code in the editor', async () => (await wb.editorText()).includes('return a + b'));
  await wb.command('View: Revert and Close Editor');
});

test('a memory command of the palette keeps a fact', async () => {
  await wb.command('ChatLS: Remember…');
  await wb.answer('We deploy on Thursdays');
  await wb.notification('Thursdays').or(wb.notification('emember')).first().waitFor();
  await wb.command('ChatLS: Show Facts');
  const preview = wb.page.locator('iframe.webview.ready').last();
  await preview.waitFor();
  const facts = wb.page.frameLocator('iframe.webview.ready[src*="markdown"]').frameLocator('iframe#active-frame');
  await facts.getByText('We deploy on Thursdays').first().waitFor();
  await wb.shot('facts');
  await wb.command('View: Close Editor');
});

test('saving AGENTS.md changes the very next request', async () => {
  await wb.openFile('AGENTS.md');
  await wb.page.locator('.editor-instance .view-lines').last().click();
  await wb.page.keyboard.press('Control+End');
  await wb.page.keyboard.type('Always mention penguins.\n');
  await wb.page.keyboard.press('Control+s');
  await wb.chat.getByText(/AGENTS\.md changed/).waitFor();
  await wb.shot('instructions-changed');
  const seen = (await model.requests()).length;
  await model.script({ text: 'Penguins, then.' });
  await wb.ask('And now?');
  await wb.chat.getByText('Penguins, then.').waitFor();
  await lastDone().waitFor();
  const request = (await model.requests())[seen];
  assert.match(userText(request), /Always mention penguins\./);
});

test('an edit is reviewed in the diff editor, accepted, and undone with Ctrl+Z', async () => {
  await wb.openFile('src/app.py');
  await model.script(
    { text: 'I will fix it.', tool_calls: [{ name: 'edit_file', id: 'call_fix', arguments: { path: 'src/app.py', old_text: 'return a - b', new_text: 'return a + b' } }] },
    { text: 'It adds now.' },
  );
  await wb.ask('Fix it', 'coder');
  const card = lastTurn().locator('.card.edit');
  await card.getByText('waiting for you', { exact: true }).waitFor();
  assert.equal(editor.read('src/app.py'), APP, 'nothing unreviewed touches the file');
  await card.getByRole('button', { name: 'Open Diff' }).click();
  const lens = wb.page.locator('.codelens-decoration a', { hasText: 'Accept' });
  await lens.first().waitFor();
  await wb.shot('review');
  await lens.first().click();
  await card.getByText('applied', { exact: true }).waitFor();
  await lastDone().waitFor();
  await eventually('the edited text in the editor', async () => (await wb.editorText()).includes('return a + b'));
  await wb.shot('accepted');
  await wb.page.locator('.editor-instance .view-lines').last().click();
  await wb.page.keyboard.press('Control+z');
  await eventually('the old text after Ctrl+Z', async () => (await wb.editorText()).includes('return a - b'));
});

test('a rejected edit stays readable and changes nothing', async () => {
  const before = await wb.editorText();
  await model.script(
    { text: '', tool_calls: [{ name: 'edit_file', id: 'call_bad', arguments: { path: 'src/app.py', old_text: 'return a + a', new_text: 'return 3 * a' } }] },
    { text: 'As you wish.' },
  );
  await wb.ask('Triple it');
  const card = lastTurn().locator('.card.edit');
  await card.getByRole('button', { name: 'Reject' }).click();
  await card.getByText('rejected', { exact: true }).waitFor();
  await lastDone().waitFor();
  await card.getByText('return 3 * a').waitFor();
  assert.equal(await wb.editorText(), before);
  await wb.shot('rejected');
});

test('the undo of a card puts the text back', async () => {
  await model.script(
    { text: '', tool_calls: [{ name: 'edit_file', id: 'call_undo', arguments: { path: 'src/app.py', old_text: 'return a + a', new_text: 'return 2 * a' } }] },
    { text: 'Done.' },
  );
  await wb.ask('Use a product');
  const card = lastTurn().locator('.card.edit');
  await card.getByRole('button', { name: 'Accept' }).click();
  await lastDone().waitFor();
  await eventually('the edit', async () => (await wb.editorText()).includes('return 2 * a'));
  await card.getByRole('button', { name: 'Undo' }).click();
  await eventually('the old text', async () => (await wb.editorText()).includes('return a + a'));
  await card.getByText('undone', { exact: true }).waitFor();
});

test('a command asks first, in full, and can be denied', async () => {
  await model.script(
    { text: '', tool_calls: [{ name: 'run_command', id: 'call_run', arguments: { command: 'echo from-the-agent > made.txt' } }] },
    { text: 'Then not.' },
  );
  await wb.ask('Make a file');
  const card = lastTurn().locator('.card.dialog');
  await card.getByText('echo from-the-agent > made.txt').first().waitFor();
  await wb.shot('approval');
  await card.getByRole('button', { name: 'Deny' }).click();
  await lastDone().waitFor();
  assert.equal(fs.existsSync(editor.path('made.txt')), false);
  await lastTurn().locator('.tool', { hasText: 'denied' }).waitFor();
});

test('stop ends the answer at once and the next question works', async () => {
  await model.script({ text: 'One two three four', hold: [2] }, { text: 'Fresh answer.' });
  await wb.ask('Count', 'chat');
  await wb.chat.getByText('One two').waitFor();
  await wb.box.press('Escape');
  await wb.chat.getByText('Stopped.').waitFor();
  await eventually('the model’s connection to close', async () => (await model.requests()).some((request) => request.closedAt));
  await wb.ask('Again');
  await wb.chat.getByText('Fresh answer.').waitFor();
  await lastDone().waitFor();
});

test('what is sent meanwhile waits, and can be taken back', async () => {
  await model.script({ text: 'Working on it', hold: [1] });
  await wb.ask('First');
  await wb.chat.getByText('Working').waitFor();
  await wb.ask('Second');
  const waiting = wb.chat.locator('.queue li', { hasText: 'Second' });
  await waiting.waitFor();
  await wb.shot('queued');
  await waiting.getByRole('button').click();
  await waiting.waitFor({ state: 'detached' });
  await model.release();
  await lastDone().waitFor();
  const asked = (await model.requests()).filter((request) => userText(request).includes('Second'));
  assert.equal(asked.length, 0);
});

test('a refused key says what to do, and a retry works', async () => {
  await model.script({ error: { status: 401, message: 'invalid x-api-key', code: 'authentication_error' } });
  await wb.ask('Hello?');
  const card = lastTurn().locator('.card.error');
  await card.getByRole('button', { name: 'Add a Key…' }).waitFor();
  await wb.shot('wrong-key');
  await model.script({ text: 'Back again.' });
  await card.getByRole('button', { name: 'Retry' }).click();
  await wb.chat.getByText('Back again.').waitFor();
});

test('completion offers files for @ and commands for /', async () => {
  await wb.box.fill('');
  await wb.box.pressSequentially('look at @app');
  const option = wb.chat.getByRole('option', { name: /src\/app\.py/ });
  await option.waitFor();
  await wb.shot('completion');
  await wb.box.press('Tab');
  assert.equal(await wb.box.inputValue(), 'look at @src/app.py ');
  await wb.box.fill('');
  await wb.box.pressSequentially('/re');
  await wb.chat.getByRole('option', { name: /\/remember/ }).waitFor();
  await wb.box.press('Escape');
  await wb.box.fill('a draft to keep');
});

test('a reload of the window brings everything back', async () => {
  await wb.command('ChatLS: Show Cost');
  await wb.page.locator('.tab', { hasText: 'Cost' }).waitFor();
  await wb.page.reload({ waitUntil: 'domcontentloaded' });
  await wb.box.waitFor({ timeout: 60_000 });
  await wb.chat.getByText('Back again.').waitFor({ timeout: 60_000 });
  await wb.chat.getByText('Fix it', { exact: true }).waitFor();
  assert.equal(await wb.box.inputValue(), 'a draft to keep');
  await wb.shot('after-reload');
  await wb.box.fill('');
  await wb.box.press('ArrowUp');
  assert.equal(await wb.box.inputValue(), 'Hello?');
});

test('forgetting is a choice, a confirmation and an undo', async () => {
  await wb.command('ChatLS: Forget…');
  await wb.answer('Thursdays');
  const row = wb.page.locator('.quick-input-list .monaco-list-row', { hasText: 'We deploy on Thursdays' });
  await row.waitFor();
  await row.locator('.monaco-checkbox, input[type=checkbox], .quick-input-list-checkbox').first().click();
  await wb.shot('forget');
  await wb.page.locator('.quick-input-action .monaco-button', { hasText: 'OK' }).click();
  await wb.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Forget' }).click();
  const undo = wb.page.locator('.notifications-toasts').getByRole('button', { name: 'Undo' });
  await undo.click();
  await wb.command('ChatLS: Recall…');
  await wb.answer('deploy');
  const recalled = wb.page.frameLocator('iframe.webview.ready[src*="markdown"]').frameLocator('iframe#active-frame');
  await recalled.getByText('We deploy on Thursdays').first().waitFor();
  await wb.shot('recalled');
});
