// The same product in Portuguese, in a dark high-contrast theme.
import { test } from 'node:test';
import { scene } from './harness.mjs';

let model;
let wb;

scene('portuguese', {
  options: (model) => ({
    language: 'pt-br',
    settings: { 'workbench.colorTheme': 'Default High Contrast' },
    files: { 'app.py': 'x = 1\n' },
    env: { OPENAI_API_KEY: 'sk-e2e', OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: 'gpt-5.4' },
  }),
  use: (made) => ({ model, wb } = made),
});

test('the panel, the palette and the status bar speak Portuguese', async () => {
  await wb.chat.getByText('Pergunte sobre este espaço de trabalho').waitFor();
  await wb.status.filter({ hasText: 'pronto' }).waitFor();
  await wb.shot('welcome');
  await model.script({
    text: 'Vou mudar.',
    tool_calls: [{ name: 'edit_file', id: 'call_pt', arguments: { path: 'app.py', old_text: 'x = 1', new_text: 'x = 2' } }],
  }, { text: 'Pronto.' });
  await wb.ask('Mude x', 'coder');
  const card = wb.chat.locator('.card.edit');
  await card.getByText('à sua espera').waitFor();
  await wb.shot('edit');
  await card.getByRole('button', { name: 'Aceitar' }).click();
  await card.getByText('aplicada').waitFor();
  await wb.command('ChatLS: Mostrar fatos');
  await wb.page.locator('.tab', { hasText: 'Fatos' }).waitFor();
  await wb.shot('facts');
});
