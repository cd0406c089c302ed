// The views beside the chat in a real VS Code: instructions with their diagnostics, memory with its graph, context.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, scene } from './harness.mjs';

let model;
let editor;
let wb;

scene('views', {
  options: (model) => ({
    files: {
      'src/app.py': 'def add(a, b):\n    return a + b\n',
      'manual.txt': 'A line of the manual.\n'.repeat(300),
      'AGENTS.md': '# Rules\n\nAnswer briefly.\n\n@docs/style.md\n',
      '.chatcli/rules/python.md': '---\npaths: ["src/**/*.py"]\n---\nUse type hints.\n',
      '.chatcli/rules/prose.md': '---\npaths: ["docs/**"]\n---\nWrite short sentences.\n',
    },
    env: { ANTHROPIC_API_KEY: 'sk-ant-e2e', ANTHROPIC_BASE_URL: model.url, ANTHROPIC_MODEL: 'claude-sonnet-4-6' },
  }),
  use: (made) => ({ model, editor, wb } = made),
});

const pane = (name) => wb.pane(name);
const row = (name, text) => wb.row(name, text);
const toggle = (...names) => wb.toggle(...names);
const act = (name, text, label) => wb.act(name, text, label);
const page = (selector) => wb.webview(selector);

/** Asks in the chat and gives the request that went out. */
async function ask(text, reply) {
  const seen = (await model.requests()).length;
  await model.script({ text: reply });
  await wb.ask(text);
  await wb.chat.getByText(reply).waitFor();
  await wb.chat.locator('.turn:last-child[data-state="done"]').waitFor();
  return (await model.requests())[seen].json;
}

test('the Instructions view follows the document in front', async () => {
  await wb.openFile('src/app.py');
  await toggle('Instructions');
  await row('Instructions', 'Rule: python').waitFor();
  await row('Instructions', 'AGENTS.md').first().waitFor();
  await row('Instructions', 'docs/style.md').waitFor();
  assert.equal(await row('Instructions', 'Rule: prose').count(), 0, 'what does not apply is folded away');
  await wb.shot('instructions');
  await row('Instructions', 'AGENTS.md').first().click();
  await wb.page.locator('.tabs-container .tab.active[data-resource-name="AGENTS.md"]').waitFor();
  await row('Instructions', 'Rules That Apply').waitFor({ state: 'detached' });
});

test('a broken import is underlined, and the quick fix mends it', async () => {
  const squiggle = wb.page.locator('.editor-instance .squiggly-warning, .editor-instance .squiggly-error');
  await squiggle.first().waitFor();
  await wb.page.locator('.editor-instance .view-line', { hasText: '@docs/style.md' }).click();
  await wb.shot('broken-import');
  await wb.page.keyboard.press('Control+.');
  await wb.page.locator('.action-widget .monaco-list-row', { hasText: 'Create style.md' }).click();
  await squiggle.first().waitFor({ state: 'detached' });
  assert.equal(editor.read('docs/style.md'), '');
});

test('a saved rule rides in the turn context and leaves the system text alone', async () => {
  await wb.openFile('src/app.py');
  const before = await ask('First question', 'First answer.');
  assert.match(JSON.stringify(before.messages), /Use type hints\./);
  await wb.openFile('.chatcli/rules/python.md');
  await wb.page.locator('.editor-instance .view-line', { hasText: 'Use type hints.' }).click();
  await wb.page.keyboard.press('End');
  await wb.page.keyboard.type(' Prefer dataclasses.');
  await wb.page.keyboard.press('Control+s');
  await wb.chat.getByText(/python\.md changed/).waitFor();
  await wb.openFile('src/app.py');
  await row('Instructions', 'Rule: python').waitFor();
  const next = await ask('Second question', 'Second answer.');
  assert.deepEqual(texts(next.system), texts(before.system), 'the cached prefix stays as it is');
  assert.doesNotMatch(JSON.stringify(next.system), /dataclasses/);
  const carried = next.messages.filter((message) => message.role === 'user').flatMap((message) => texts(message.content));
  assert.ok(carried.some((text) => text.startsWith('[TURN CONTEXT]') && text.includes('Prefer dataclasses.')), carried.join('\n---\n'));
  await toggle('Instructions');
});

/** Text of content that is a string or a list of blocks. */
function texts(content) {
  return typeof content === 'string' ? [content] : content.flatMap((block) => (block.text === undefined ? [] : [block.text]));
}

test('the Memory view says what memory is while there is none', async () => {
  await toggle('Memory');
  await pane('Memory').getByText('Nothing is remembered yet.').waitFor();
  await wb.shot('memory-empty');
});

test('what is remembered appears by category, and can be pinned, forgotten and brought back', async () => {
  for (const fact of ['We deploy on Thursdays', 'The staging database is called heron']) {
    await wb.command('ChatLS: Remember…');
    await wb.answer(fact);
    await row('Memory', fact).waitFor();
  }
  await act('Memory', 'Thursdays', 'Pin');
  await row('Memory', 'Thursdays').filter({ hasText: 'pinned' }).waitFor();
  await wb.shot('memory');
  await act('Memory', 'heron', 'Forget');
  await row('Memory', 'heron').waitFor({ state: 'detached' });
  await wb.page.locator('.notifications-toasts').getByRole('button', { name: 'Undo' }).click();
  await row('Memory', 'heron').waitFor();
});

test('memory is searched while one types', async () => {
  await pane('Memory').locator('.pane-header').hover();
  await pane('Memory').locator('.pane-header a[aria-label^="Search Memory"]').click();
  const input = wb.page.locator('.quick-input-widget input').first();
  await input.fill('datab');
  await row('Memory', 'Thursdays').waitFor({ state: 'detached' });
  await row('Memory', 'heron').waitFor();
  await wb.shot('memory-search');
  await wb.page.keyboard.press('Escape');
  await row('Memory', 'Thursdays').waitFor();
});

test('the graph opens as a tab, and a node opens where it comes from', async () => {
  await wb.command('ChatLS: Show Memory Graph');
  const graph = await page('svg.picture circle');
  await graph.locator('.labels text', { hasText: 'Thursdays' }).waitFor();
  await wb.shot('graph');
  const box = await graph.locator('circle.kind-fact').first().boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await wb.page.mouse.move(x, y);
  await wb.page.mouse.down();
  await wb.page.mouse.move(x + 60, y + 40, { steps: 4 });
  await wb.page.mouse.up();
  await eventually('the node to follow the mouse', async () => {
    const now = await graph.locator('circle.kind-fact').first().boundingBox();
    return Math.abs(now.x - box.x - 60) < 5;
  });
  await graph.getByRole('searchbox', { name: 'Find a node' }).fill('Thursdays');
  await graph.getByRole('searchbox', { name: 'Find a node' }).press('Enter');
  await graph.locator('.details h2', { hasText: 'We deploy on Thursdays' }).waitFor();
  await graph.locator('.details .source', { hasText: 'From: you' }).waitFor();
  await wb.shot('graph-focus');
  await graph.locator('.details').getByRole('button', { name: 'Open', exact: true }).click();
  await wb.page.locator('.tab', { hasText: 'Where It Comes From' }).waitFor();
  await toggle('Memory');
});

test('the Context view shows every section, its exact text, and the way back', async () => {
  await (await page('#message')).getByRole('button', { name: /of the context window are used/ }).click();
  await pane('Context').locator('.pane-header[aria-expanded="true"]').waitFor();
  await toggle('Chat');
  const context = await page('main.context .bars');
  await context.getByRole('meter').waitFor();
  const instructions = context.getByRole('button', { name: /^instructions: / });
  await instructions.waitFor();
  await context.getByRole('button', { name: /^conversation: / }).waitFor();
  const back = context.getByRole('button', { name: 'Rewind to “Second question”' });
  await back.waitFor();
  await wb.shot('context');
  await toggle('Chat');
  const box = (await page('#message')).locator('#message');
  const answers = (await page('#message')).locator('.turn[data-state="done"]');
  for (const text of ['/context create manual manual.txt', '/context attach manual']) {
    const seen = await answers.count();
    await box.fill(text);
    await box.press('Enter');
    await answers.nth(seen).waitFor();
  }
  const press = async (name) => context.getByRole('button', { name }).click();
  await press('Fold “manual” to a card; the model can still read it');
  await context.getByRole('button', { name: 'Unfold “manual”' }).waitFor();
  await wb.shot('context-folded');
  await press('Unfold “manual”');
  await press('Detach “manual”');
  await context.getByRole('button', { name: 'Detach “manual”' }).waitFor({ state: 'detached' });
  await instructions.click();
  await wb.page.locator('.tab.active', { hasText: 'instructions.txt' }).waitFor();
  await eventually('the exact text', async () => (await wb.editorText()).includes('Answer briefly.'));
  await back.click();
  await wb.notification('Back at').waitFor();
  await toggle('Context', 'Chat');
  const chat = await page('#message');
  await chat.getByText('First answer.').waitFor();
  await chat.getByText('Second answer.').waitFor({ state: 'detached' });
});
