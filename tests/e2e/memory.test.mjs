// The life of memory in a real VS Code: learned in the background, told in a quiet line, opened, taken back, reviewed, kept.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, scene } from './harness.mjs';

let model;
let editor;
let wb;

scene('memory', {
  options: (model) => ({
    files: { 'src/app.py': 'x = 1\n' },
    settings: { 'files.simpleDialog.enable': true },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url, ANTHROPIC_MODEL: 'claude-sonnet-4-6' },
  }),
  use: (made) => ({ model, editor, wb } = made),
});

/** Writes a file of memory as another program would. */
function kept(name, content) {
  const file = path.join(editor.home, '.chatcli/memory', name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

async function ask(text, reply) {
  await model.script({ text: reply });
  await wb.ask(text);
  await wb.chat.getByText(reply).waitFor();
  await wb.chat.locator('.turn:last-child[data-state="done"]').waitFor();
}

/** Presses a button in the title of the Memory view. */
async function title(label) {
  await wb.pane('Memory').locator('.pane-header').hover();
  await wb.pane('Memory').locator(`.pane-header a[aria-label^="${label}"]`).click();
}

const LEARNED = `## LONGTERM
- [architecture] The orders database is Postgres 16
## EPISODES
- Moved the orders database to Postgres 16 :: works :: migrations`;

test('what was learned in the background is one quiet line that opens it', async () => {
  await ask('We moved the orders database to Postgres 16', 'Noted, Postgres 16.');
  await ask('The migration works', 'Good to hear.');
  await wb.command('ChatLS: New Session');
  await wb.chat.getByText('Noted, Postgres 16.').waitFor({ state: 'detached' });
  // What a server left over is learned from soon after the next one starts.
  await model.script({ text: LEARNED });
  await wb.command('ChatLS: Restart Server');
  const line = wb.chat.locator('.notice', { hasText: 'Remembered 1 fact, 1 episode' });
  await line.waitFor({ timeout: 90_000 });
  await wb.shot('quiet-line');
  await line.getByRole('button', { name: 'Remembered 1 fact, 1 episode' }).click();
  await wb.row('Memory', 'The orders database is Postgres 16').filter({ hasText: 'learned' }).waitFor();
  await wb.shot('just-remembered');
});

test('the conversation something was said in opens at the message', async () => {
  await wb.act('Memory', 'The orders database', 'Open the Conversation');
  await wb.chat.locator('.turn.revealed', { hasText: 'We moved the orders database to Postgres 16' }).waitFor();
  await wb.chat.getByText('Good to hear.').waitFor();
  await wb.shot('why');
});

test('a table in the narrow chat box keeps its words whole, and scrolls', async () => {
  await wb.ask('/memory facts');
  const cell = wb.chat.locator('.turn td', { hasText: 'architecture' }).last();
  await cell.waitFor();
  assert.ok((await cell.boundingBox()).width > 60, 'no word is broken into letters');
  await wb.shot('facts-in-chat');
});

test('what waits for review is accepted or dropped, and acceptance can be undone', async () => {
  const item = (id, content, external) => [id, {
    id, kind: 'fact', fields: { content, category: 'project' }, external, created_at: '2026-03-01T10:00:00Z',
    origin: { kind: 'extraction', session: 's', message: id, time: '2026-03-01T10:00:00Z' },
  }];
  const items = Object.fromEntries([item('w1', 'Billing runs on port 7001', false), item('w2', 'The moon is made of cheese', true)]);
  await title('Show Everything');
  await wb.pane('Memory').getByText('just remembered').waitFor({ state: 'detached' });
  // What another program writes is seen without asking for it.
  kept('memory_review.json', { items });
  await wb.row('Memory', 'Waiting for You').waitFor();
  await wb.row('Memory', 'The moon is made of cheese').filter({ hasText: 'outside content' }).waitFor();
  await wb.shot('waiting');
  await wb.act('Memory', 'The moon is made of cheese', 'Do Not Remember');
  await wb.row('Memory', 'The moon is made of cheese').waitFor({ state: 'detached' });
  await wb.act('Memory', 'Billing runs on port 7001', 'Remember This');
  await wb.row('Memory', 'Waiting for You').waitFor({ state: 'detached' });
  await wb.row('Memory', 'Billing runs on port 7001').filter({ hasText: '%' }).waitFor();
  const line = wb.chat.locator('.notice', { hasText: 'Remembered 1 fact' }).last();
  await line.getByRole('button', { name: 'Undo' }).click();
  await wb.row('Memory', 'Billing runs on port 7001').waitFor({ state: 'detached' });
});

test('profile, projects, topics, timeline and digests have their places', async () => {
  const now = new Date().toISOString();
  kept('topics.json', [{ name: 'caching', mentions: 3, summary: 'what is in Redis', first_seen: now, last_seen: now }]);
  kept('projects.json', [{ name: 'atlas', path: '/w/atlas', status: 'active', technologies: ['Go'], last_active: now }]);
  kept('weekly/2026-W15.md', '# Week 2026-W15 (2026-04-06 – 2026-04-12)\n\n- fixed the login bug\n');
  kept('monthly/2026-04.md', '# Month 2026-04\n\n- a month of logins\n');
  await wb.command('ChatLS: Remember…');
  await wb.answer('We deploy on Thursdays');
  await wb.toggle('Chat');
  await wb.row('Memory', 'We deploy on Thursdays').waitFor();
  for (const name of ['Facts', 'Projects', 'Topics', 'Timeline', 'Digests']) await wb.row('Memory', name).first().waitFor();
  await wb.unfold('Memory', 'Topics');
  await wb.row('Memory', 'caching').filter({ hasText: '× 3' }).waitFor();
  await wb.unfold('Memory', 'Timeline');
  await wb.row('Memory', 'Moved the orders database').waitFor();
  await wb.unfold('Memory', 'Digests');
  await wb.row('Memory', 'Week 15 of 2026').waitFor();
  await wb.shot('places');
  await wb.row('Memory', 'April 2026').click();
  await wb.page.locator('.tab', { hasText: 'April 2026' }).waitFor();
  await wb.shot('digest');
});

test('a fact and the profile are edited and marked as sensitive', async () => {
  await wb.act('Memory', 'We deploy on Thursdays', 'Edit');
  await wb.answer('We deploy on Tuesdays');
  await wb.row('Memory', 'We deploy on Tuesdays').waitFor();
  await wb.row('Memory', 'We deploy on Thursdays').waitFor({ state: 'detached' });
  await wb.act('Memory', 'We deploy on Tuesdays', 'Mark as Sensitive');
  await wb.row('Memory', 'We deploy on Tuesdays').filter({ hasText: 'sensitive' }).waitFor();
  await wb.command('ChatLS: Set Profile…');
  await wb.answer('company');
  await wb.answer('Acme');
  await wb.unfold('Memory', 'Profile');
  await wb.row('Memory', 'Acme').waitFor();
  await wb.act('Memory', 'Acme', 'Mark as Sensitive');
  await wb.row('Memory', 'Acme').filter({ hasText: 'sensitive' }).waitFor();
  await wb.shot('profile');
});

test('by keyboard a topic is edited, and the row with the focus forgotten and brought back', async () => {
  const now = new Date().toISOString();
  const topics = [['caching', 3, 'what is in Redis'], ['tiles', 2, ''], ['tides', 1, '']];
  kept('topics.json', topics.map(([name, mentions, summary]) => ({ name, mentions, summary, first_seen: now, last_seen: now })));
  await wb.unfold('Memory', 'Topics');
  await wb.row('Memory', 'tiles').waitFor();
  await wb.row('Memory', 'caching').click();
  await wb.page.locator('.tab', { hasText: 'Where It Comes From' }).waitFor();
  // What the click opened gives the focus back.
  await wb.pane('Memory').locator('.monaco-list:focus').waitFor();
  await wb.page.keyboard.press('F2');
  await wb.answer('Summary');
  const box = wb.page.locator('.quick-input-widget .quick-input-box input').first();
  await eventually('the summary to be edited', async () => (await box.inputValue()) === 'what is in Redis');
  await wb.answer('what Redis holds for a day');
  await wb.row('Memory', 'caching').and(wb.page.locator('[aria-label*="what Redis holds for a day"]')).waitFor();
  await wb.pane('Memory').locator('.monaco-list:focus').waitFor();
  await wb.page.keyboard.press('ArrowDown');
  const focused = (text) => wb.row('Memory', text).and(wb.page.locator('.focused')).waitFor();
  await focused('tiles');
  await wb.page.keyboard.press('Delete');
  await wb.notification('Forgotten: “tiles”.').waitFor();
  await wb.row('Memory', 'tiles').waitFor({ state: 'detached' });
  await wb.row('Memory', 'caching').waitFor();
  await focused('tides');
  await wb.shot('forgotten-by-key');
  await wb.page.keyboard.press('Control+z');
  await wb.row('Memory', 'tiles').waitFor();
});

test('memory is exported to a file and comes back from it', async () => {
  const file = path.join(editor.root, 'kept.jsonl');
  await wb.command('ChatLS: Export Memory…');
  // The dialog fills its box itself once it has read the folder it begins in.
  const box = wb.page.locator('.quick-input-widget .quick-input-box input').first();
  await eventually('the name it proposes', async () => /memory-[\d-]+\.jsonl$/.test(await box.inputValue()));
  await wb.answer(file);
  await eventually('the export', () => fs.existsSync(file));
  const kinds = fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line).kind);
  assert.equal(kinds[0], 'header');
  for (const kind of ['fact', 'episode', 'topic', 'project']) assert.ok(kinds.includes(kind), kind);
  fs.rmSync(path.join(editor.home, '.chatcli/memory/topics.json'));
  await wb.command('ChatLS: Remember…');
  await wb.answer('Lunch is at noon');
  await wb.row('Memory', 'caching').waitFor({ state: 'detached' });
  await wb.command('ChatLS: Import Memory…');
  // The dialog fills its box itself once it has read the folder it begins in.
  const listed = (name) => wb.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).waitFor();
  await listed('src');
  await wb.page.locator('.quick-input-widget .quick-input-box input').first().fill(file);
  await listed('kept.jsonl');
  await wb.page.locator('.quick-input-widget').getByRole('button', { name: 'Import' }).click();
  await wb.row('Memory', 'Topics').waitFor();
});

test('what is remembered stays text in the preview: nothing is drawn or fetched', async () => {
  await wb.command('ChatLS: Remember…');
  await wb.answer('<b>bold</b> and ![a picture](https://example.invalid/x.png) | with a bar');
  await wb.row('Memory', '<b>bold</b>').waitFor();
  // What comes from a conversation is Markdown; its HTML is not drawn either.
  const day = new Date();
  const two = (number) => String(number).padStart(2, '0');
  const month = `${day.getFullYear()}${two(day.getMonth() + 1)}`;
  kept(`${month}/${month}${two(day.getDate())}.md`, '## 10:00\n\n<div style="background:url(https://example.invalid/y)">**a note**</div>\n');
  for (const [command, text] of [['ChatLS: Show Facts', '<b>bold</b> and ![a picture]'], ['ChatLS: Show Daily Notes…', '<div style=']]) {
    await wb.command(command);
    if (command.endsWith('…')) await wb.answer('');
    const preview = await wb.webview(`.markdown-body:has-text("${text}")`);
    assert.equal(await preview.locator('.markdown-body :is(b, img, [style*="url"])').count(), 0, command);
  }
  await wb.shot('preview');
});

test('a reload of the window brings the graph back, at the node it was left at', async () => {
  await wb.command('ChatLS: Show Memory Graph');
  const graph = await wb.webview('svg.picture circle');
  await graph.getByRole('searchbox', { name: 'Find a node' }).fill('orders');
  await graph.getByRole('searchbox', { name: 'Find a node' }).press('Enter');
  await graph.locator('.details h2', { hasText: 'orders database' }).waitFor();
  const gone = wb.page.waitForEvent('framenavigated', (frame) => frame === wb.page.mainFrame());
  // The editor's own way keeps its open tabs first.
  await wb.command('Developer: Reload Window');
  await gone;
  const again = await wb.webview('.details h2');
  assert.match(await again.locator('.details h2').innerText(), /orders database/);
  assert.equal(await again.getByRole('searchbox', { name: 'Find a node' }).inputValue(), 'orders');
  await wb.shot('graph-after-reload');
});
