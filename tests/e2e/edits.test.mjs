// Edits nobody has to fear, in a real VS Code: typing meanwhile, single hunks, files unsaved, renamed and read-only.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { eventually, scene } from './harness.mjs';

const LINES = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`).join('\n') + '\n';
const SHOUTED = LINES.replace('line 3\n', 'LINE 3\n').replace('line 20\n', 'LINE 20\n').replace('line 38\n', 'LINE 38\n');

let model;
let editor;
let wb;

scene('edits', {
  options: (model) => ({
    files: { 'typed.txt': 'one\ntwo\nthree\n', 'hunks.txt': LINES, 'old.txt': 'alpha\nbeta\n', 'locked.txt': 'do not touch\n', 'made.txt': '' },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url, ANTHROPIC_MODEL: 'claude-sonnet-4-6' },
    settings: { 'chatls.edits.format': 'apply_patch' },
  }),
  started: (opened) => fs.chmodSync(opened.path('locked.txt'), 0o444),
  use: (made) => ({ model, editor, wb } = made),
});

const lastTurn = () => wb.chat.locator('.turn').last();
const lastDone = () => wb.chat.locator('.turn:last-child[data-state="done"]');
const call = (name, id, args) => ({ name, id, arguments: args });

/** What the model was told last. */
async function told() {
  const requests = await model.requests();
  return JSON.stringify(requests[requests.length - 1].json.messages);
}

async function cursor(key) {
  await wb.page.locator('.editor-group-container.active .editor-instance .view-lines').last().click();
  await wb.page.keyboard.press(key);
}

/** Saves everything and waits until the disk holds `text`; says what it holds instead. */
async function saved(name, text) {
  await wb.command('File: Save All');
  const same = () => fs.existsSync(editor.path(name)) && editor.read(name) === text;
  await eventually(name, same).catch(() => assert.equal(editor.read(name), text));
}

async function accept() {
  await lastTurn().locator('.card.edit').getByRole('button', { name: 'Accept', exact: true }).click();
  await lastDone().waitFor();
}

test('what the user types above and below while the agent works stays, and the edit lands', async () => {
  await wb.openFile('typed.txt');
  await model.script(
    { text: '', tool_calls: [call('read_file', 'r1', { path: 'typed.txt' })] },
    { text: 'Let me think.', hold: [1], tool_calls: [call('edit_file', 'e1', { path: 'typed.txt', old_text: 'two', new_text: 'TWO' })] },
    { text: 'Done.' },
  );
  await wb.ask('Shout the second line', 'coder');
  await wb.chat.getByText('Let').first().waitFor();
  await cursor('Control+Home');
  await wb.page.keyboard.type('zero\n');
  await cursor('Control+End');
  await wb.page.keyboard.type('four');
  await model.release();
  await accept();
  await saved('typed.txt', 'zero\none\nTWO\nthree\nfour');
  await wb.shot('typed-meanwhile');
  await cursor('Control+z');
  await saved('typed.txt', 'zero\none\ntwo\nthree\nfour');
});

test('one hunk of three is rejected, and the model learns which', async () => {
  await wb.openFile('hunks.txt');
  await model.script(
    { text: '', tool_calls: [call('read_file', 'r2', { path: 'hunks.txt' })] },
    { text: '', tool_calls: [call('write_file', 'e2', { path: 'hunks.txt', content: SHOUTED })] },
    { text: 'Two of three.' },
  );
  await wb.ask('Shout three lines');
  const card = lastTurn().locator('.card.edit');
  await card.getByRole('button', { name: 'Open Diff' }).click();
  const lenses = (label) => wb.page.locator('.codelens-decoration a', { hasText: label });
  await lenses('Reject').first().waitFor();
  await wb.shot('three-hunks');
  await lenses('Reject').nth(1).click();
  await card.getByRole('button', { name: 'Accept', exact: true }).click();
  await lastDone().waitFor();
  assert.match(await told(), /LINE 20/, 'the rejected text is told');
  assert.match(await told(), /rejected these parts/);
  await saved('hunks.txt', SHOUTED.replace('LINE 20\n', 'line 20\n'));
});

test('a new file that nobody saved yet is edited again', async () => {
  await model.script(
    { text: '', tool_calls: [call('write_file', 'n1', { path: 'fresh.txt', content: 'first\nsecond\n' })] },
    { text: 'Made.' },
  );
  await wb.ask('Make a file');
  await accept();
  await wb.shot('fresh');
  await wb.page.locator('.tabs-container .tab[data-resource-name="fresh.txt"]').click();
  await cursor('Control+End');
  await wb.page.keyboard.type('mine\n');
  await model.script(
    { text: '', tool_calls: [call('edit_file', 'n2', { path: 'fresh.txt', old_text: 'second', new_text: 'SECOND' })] },
    { text: 'Shouted.' },
  );
  await wb.ask('Shout in it');
  await accept();
  await saved('fresh.txt', 'first\nSECOND\nmine\n');
});

test('text typed into an empty file and not saved is edited where it stands', async () => {
  await wb.openFile('made.txt');
  await cursor('Control+End');
  await wb.page.keyboard.type('draft one\ndraft two\n');
  await model.script(
    { text: '', tool_calls: [call('edit_file', 'u1', { path: 'made.txt', old_text: 'draft one', new_text: 'final one' })] },
    { text: 'Final.' },
  );
  await wb.ask('Finish the first line');
  await accept();
  assert.equal(editor.read('made.txt'), '', 'it is still the user who saves');
  await saved('made.txt', 'final one\ndraft two\n');
});

test('a rename with edits arrives as one change', async () => {
  await wb.openFile('old.txt');
  const patch = '*** Begin Patch\n*** Update File: old.txt\n*** Move to: new.txt\n@@\n alpha\n-beta\n+BETA\n*** End Patch\n';
  await model.script({ text: '', tool_calls: [call('apply_patch', 'm1', { edit: patch })] }, { text: 'Moved.' });
  await wb.ask('Rename it and shout');
  await accept();
  await saved('new.txt', 'alpha\nBETA\n');
  assert.equal(fs.existsSync(editor.path('old.txt')), false);
  await wb.shot('renamed');
});

test('a read-only file is refused, said to the model, and left alone', async () => {
  await wb.openFile('locked.txt');
  await model.script(
    { text: '', tool_calls: [call('edit_file', 'l1', { path: 'locked.txt', old_text: 'not', new_text: 'please' })] },
    { text: 'It is locked.' },
  );
  await wb.ask('Change the locked file');
  const button = lastTurn().locator('.card.edit').getByRole('button', { name: 'Accept', exact: true });
  await button.or(lastDone()).first().waitFor();
  if (await button.isVisible()) await button.click();
  await lastDone().waitFor();
  assert.match(await told(), /read-only/);
  await lastTurn().getByText(/read-only/).first().waitFor();
  assert.equal((await wb.editorText()).trim(), 'do not touch');
  assert.equal(editor.read('locked.txt'), 'do not touch\n');
});
