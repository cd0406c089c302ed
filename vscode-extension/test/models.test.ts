import { describe, expect, it } from 'vitest';
import { facts, modelRows, type ProviderItem } from '../src/commands/model-rows';

const claude = { window: 200_000, tools: true, images: true, reasoning: true, prices: { input: 3, output: 15 }, known: true };

const providers: ProviderItem[] = [
  { name: 'anthropic', title: 'Anthropic', available: true, reason: 'key from the editor', model: 'claude-x', models: [{ name: 'claude-x', info: claude }, { name: 'claude-y' }] },
  { name: 'openai', title: 'OpenAI', available: false, reason: 'no key is set (OPENAI_API_KEY)', models: [] },
  { name: 'copilot', title: 'GitHub Copilot', available: false, reason: 'nobody is signed in', signsIn: true },
  { name: 'ollama', title: 'Ollama', available: false, reason: 'it is not running on this machine' },
];

describe('the model picker', () => {
  const rows = modelRows(providers);

  it('shows of each model what it takes, costs and can do', () => {
    const row = rows.find(({ model }) => model === 'claude-x');
    expect(row).toMatchObject({ provider: 'anthropic', description: 'anthropic', detail: '200k tokens · $3 in, $15 out per million · tools · images · reasoning' });
  });

  it('says why the others are not available, and leads to what helps', () => {
    const others = rows.slice(rows.findIndex(({ label }) => label === 'Not available') + 1);
    expect(others.map(({ label, detail, action }) => [label, detail, action])).toEqual([
      ['GitHub Copilot', 'nobody is signed in', 'signIn'],
      ['OpenAI', 'no key is set (OPENAI_API_KEY)', 'key'],
      ['Ollama', 'it is not running on this machine', 'help'],
    ]);
  });

  it('offers a key and a name typed by hand, whoever is there', () => {
    expect(modelRows([]).filter(({ heading }) => !heading).map(({ action }) => action)).toEqual(['type', 'key']);
  });

  it('names a provider that lists no model', () => {
    const [, row] = modelRows([{ name: 'mine', available: true }]);
    expect(row).toMatchObject({ label: 'mine', provider: 'mine', model: '' });
  });
});

describe('facts of a model', () => {
  it('are honest about what nobody knows', () => {
    expect(facts({ window: 128_000, known: false })).toBe('128k tokens assumed · price unknown');
    expect(facts({ window: 1_048_576, prices: null, tools: true })).toBe('1M tokens · price unknown · tools');
    expect(facts({ window: 8192, prices: { input: 0, output: 0 } })).toBe('8k tokens · free');
  });
});
