import { beforeEach, describe, expect, it, vi } from 'vitest';
import { registerMemoryItems } from '../src/views/memory-items';
import { MemoryView } from '../src/views/memory';
import type { Row } from '../src/views/rows';
import { made } from './vscode-stub';

type Answers = Record<string, (args: Record<string, unknown>) => unknown>;

const fact = (id: string, category = 'general') => ({ id, content: `Fact ${id}`, category, score: 1, confidence: 0.9, ageDays: 1 });
const asked: [string, Record<string, unknown>][] = [];

/** A server that answers as `answers` says, and nothing else. */
function server(answers: Answers) {
  return async (command: string, args: object = {}) => {
    const name = command.replace('chatls.memory.', '');
    asked.push([name, args as Record<string, unknown>]);
    const data = await answers[name]?.(args as Record<string, unknown>);
    return { markdown: `${name} done.`, data } as never;
  };
}

beforeEach(() => {
  asked.length = 0;
  made.trees.length = 0;
  made.told.length = 0;
  made.answer = made.pressed = undefined;
  made.picked = [];
  made.context = {};
});

function open(answers: Answers) {
  const memory = new MemoryView(server(answers), { path: '/ext' } as never);
  const { provider, view: shown } = made.trees[0]!;
  const rows = async (row?: Row) => (await provider.getChildren(row)) as Row[];
  return { view: memory, shown, rows };
}

describe('the Memory view', () => {
  it('reads no more than the first facts where there are thousands', async () => {
    const facts = ({ category, limit }: Record<string, unknown>) => ({ facts: Array.from({ length: Math.min(Number(limit), 4990) }, (_, i) => fact(String(i), String(category ?? 'general'))) });
    const { rows } = open({ stats: () => ({ facts: { general: 4990, gotcha: 10 } }), facts });
    const [top] = await rows();
    expect([top!.label, top!.description]).toEqual(['Facts', '5,000']);
    expect(asked.filter(([name]) => name === 'facts')).toEqual([['facts', { limit: 50 }]]);
    const general = top!.children![0]!;
    expect((await rows(general)).at(-1)!.label).toBe('4,490 more…');
    made.commands.get('chatls.ui.view.memory.more')!(...(['general'] as never[]));
    expect(await rows(general)).toHaveLength(1001);
    expect(asked.at(-1)).toEqual(['facts', { category: 'general', limit: 1000 }]);
  });

  it('does not take what cannot be opened for nothing', async () => {
    const { rows } = open({ stats: () => ({ facts: {}, problems: ['The index is encrypted with another key.'] }) });
    expect((await rows()).map(({ label }) => label)).toEqual(['The index is encrypted with another key.']);
    expect(made.context['chatls.memoryEmpty']).toBe(false);
  });

  it('says that nothing is remembered only where that is so', async () => {
    const { rows } = open({ stats: () => ({ facts: {} }) });
    expect(await rows()).toEqual([]);
    expect(made.context['chatls.memoryEmpty']).toBe(true);
  });

  it('tells what the server could not do, and what helps', async () => {
    const fails = () => {
      throw Object.assign(new Error('The server is gone.'), { code: -32010, data: { kind: 'internal', hint: 'Restart it.' } });
    };
    const { rows } = open({ stats: fails });
    expect(await rows()).toMatchObject([{ label: 'The server is gone.', description: 'Restart it.', icon: 'warning' }]);
    expect(made.context['chatls.memoryEmpty']).toBe(false);
  });

  it('an earlier search that ends later says nothing about the present one', async () => {
    const waiting: Record<string, (items: unknown[]) => void> = {};
    const recall = ({ query }: Record<string, unknown>) => new Promise((done) => (waiting[String(query)] = (items) => done({ items })));
    vi.useFakeTimers();
    const { shown, rows } = open({ recall, stats: () => ({ facts: {} }) });
    made.commands.get('chatls.ui.view.memory.filter')!();
    made.box!.type('ab');
    vi.advanceTimersByTime(150);
    const first = rows();
    made.box!.type('abc');
    vi.advanceTimersByTime(150);
    const second = rows();
    vi.useRealTimers();
    waiting['abc']!([{ kind: 'fact', id: 'f', text: 'abc is known' }]);
    expect((await second).map(({ label }) => label)).toEqual(['abc is known']);
    waiting['ab']!([]);
    await first;
    expect(shown['message']).toBeUndefined();
    expect(shown['description']).toBe('“abc”');
    expect(asked.find(([name]) => name === 'recall')![1]).toMatchObject({ typing: true });
  });

  it('a screen reader hears what a row says', async () => {
    const episodes = [{ id: 'ep_1', date: '2026-11-02T12:00:00Z', summary: 'Shipped it', outcome: 'works', project: '/w/atlas' }];
    const { rows } = open({ stats: () => ({ facts: {} }), timeline: () => ({ episodes, total: 1 }) });
    const episode = (await rows())[0]!.children![0]!.children![0]!;
    expect(made.trees[0]!.provider.getTreeItem(episode).accessibilityInformation).toEqual({ label: 'Shipped it, 2026-11-02 · works · atlas' });
  });

  it('draws nothing anew where nothing changed: a click on its way must not be lost', async () => {
    let facts = [fact('a')];
    vi.useFakeTimers();
    const { view, shown, rows } = open({ stats: () => ({ facts: { general: facts.length } }), facts: () => ({ facts }) });
    shown['visible'] = true;
    let drawn = 0;
    made.trees[0]!.provider.onDidChangeTreeData(() => (drawn += 1));
    await rows();
    view.changed();
    await vi.advanceTimersByTimeAsync(200);
    expect(drawn).toBe(0);
    facts = [fact('a'), fact('b')];
    view.changed();
    await vi.advanceTimersByTimeAsync(200);
    expect(drawn).toBe(1);
    const readings = asked.length;
    expect((await rows())[0]!.children![0]!.children).toHaveLength(2);
    expect(asked, 'what was read is drawn').toHaveLength(readings);
    vi.useRealTimers();
  });

  it('gives the focus of a row that goes to the one below it, else above it, else to what held it', async () => {
    const topics = ['a', 'b', 'c'].map((name) => ({ name }));
    const { view, shown, rows } = open({ stats: () => ({ facts: {} }), topics: () => ({ topics }) });
    const focused: string[] = [];
    shown['visible'] = true;
    shown['reveal'] = async (row: Row, options: object) => {
      expect(options).toEqual({ focus: true, select: false });
      focused.push(row.label);
    };
    const [group] = await rows();
    const [a, , c] = await rows(group);
    await view.leave(a!);
    await view.leave(c!);
    topics.splice(1);
    const [alone] = await rows();
    await view.leave((await rows(alone))[0]!);
    expect(focused).toEqual(['b', 'b', 'Topics']);
    expect(made.trees[0]!.provider.getParent!(a)).toBe(group);
  });

  it('shows what was just learned, wherever it stands among thousands', async () => {
    const { rows } = open({ stats: () => ({ facts: { general: 5000 } }), why: ({ id }) => ({ fact: fact(String(id)) }) });
    await made.commands.get('chatls.ui.view.memory.recent')!(...([['abc', 'ep_1', 'topic:x']] as never[]));
    const [top] = await rows();
    expect(top!.children![0]!.children!.map(({ label }) => label)).toEqual(['Fact abc']);
    expect(asked.filter(([name]) => name === 'why')).toEqual([['why', { id: 'abc' }]]);
  });
});

describe('an item of the Memory view', () => {
  let refreshed = 0;
  let selected: Row | undefined;
  const run = async (name: string, answers: Answers, ...args: unknown[]) => {
    const input = { run: server(answers), results: {} as never, openMessage: async () => true };
    registerMemoryItems({ ...input, selected: () => selected, leave: async () => undefined, refresh: () => void (refreshed += 1) });
    await made.commands.get(`chatls.ui.memory.item.${name}`)!(...(args as never[]));
  };
  const act = (name: string, target: object, answers: Answers) => run(name, answers, { target });

  beforeEach(() => {
    refreshed = 0;
  });

  it('is forgotten by name, and comes back at a click', async () => {
    made.pressed = 'Undo';
    const items = [{ id: 'f', text: 'Ask [me](command:x)\nagain' }];
    await act('forget', { kind: 'fact', id: 'f', text: '' }, { forget: () => ({ items, undoToken: 't' }) });
    expect(made.told[0]).toBe('Forgotten: “Ask [me]\u200b(command:x) again”.');
    expect(asked).toEqual([['forget', { ids: ['f'] }], ['undo', { undoToken: 't' }]]);
  });

  it('is the row the focus is on for a key, whatever is selected; without one the key does nothing', async () => {
    const row = (id: string): Row => ({ id, label: id, target: { kind: 'fact', id, text: id } });
    selected = row('selected');
    await run('forget', {}, row('focused'));
    await run('forget', {}, { id: 'topics', label: 'Topics', children: [] });
    await run('forget', {}, undefined);
    await run('forget', {}, { id: 'digest:w', label: 'w', target: { kind: 'digest', id: 'w', text: 'w' } });
    expect(asked).toEqual([['forget', { ids: ['focused'] }]]);
  });

  it('is the selected row for a command without one, and where the editor does not tell the focus', async () => {
    selected = { id: 'a', label: 'a', target: { kind: 'fact', id: 'a', text: 'a' } };
    await run('forget', {});
    await run('forget', {}, { $treeViewId: 'chatls.memory', $focusedTreeItem: true });
    expect(asked).toEqual([['forget', { ids: ['a'] }], ['forget', { ids: ['a'] }]]);
  });

  it('one entry of a list of the profile is corrected, and the correction can be taken back', async () => {
    made.answer = 'Go, with generics';
    made.pressed = 'Undo';
    await act('edit', { kind: 'profile', id: 'profile:skills:Go', key: 'skills', text: 'Go' }, { edit: () => ({ undoToken: 'u' }) });
    expect(asked).toEqual([['edit', { id: 'profile:skills:Go', content: 'Go, with generics' }], ['undo', { undoToken: 'u' }]]);
  });

  it('is edited by the field that is picked, which may be cleared', async () => {
    const fields = { summary: 'what Redis holds', name: 'Caching' };
    made.picked = ['Summary'];
    made.answer = ' ';
    await act('edit', { kind: 'topic', id: 'topic:Caching', text: 'Caching' }, { why: () => ({ fields }), edit: () => ({ undoToken: 'u' }) });
    expect(asked).toEqual([['why', { id: 'topic:Caching' }], ['edit', { id: 'topic:Caching', field: 'summary', content: '' }]]);
  });

  it('stays as it is where its text is left alone, or nothing is picked', async () => {
    const answers = { why: () => ({ fields: { summary: 'Shipped it', outcome: 'works' } }) };
    made.picked = ['Outcome'];
    made.answer = 'works';
    await act('edit', { kind: 'episode', id: 'ep_1', text: 'Shipped it' }, answers);
    await act('edit', { kind: 'episode', id: 'ep_1', text: 'Shipped it' }, answers);
    expect(asked.map(([name]) => name)).toEqual(['why', 'why']);
  });

  it('a project is set to one of the states it may have', async () => {
    made.picked = ['Status', 'paused'];
    await act('edit', { kind: 'project', id: 'project:atlas', text: 'atlas' }, { why: () => ({ fields: { description: '', status: 'active' } }) });
    expect(asked.at(-1)).toEqual(['edit', { id: 'project:atlas', field: 'status', content: 'paused' }]);
  });

  it('that changed elsewhere is told in the server’s words, and the view is drawn anew', async () => {
    const gone = () => {
      throw new Error('Nothing is remembered under the id f. It may have been changed or forgotten elsewhere.');
    };
    await act('pin', { kind: 'fact', id: 'f', text: '' }, { pin: gone });
    expect(made.told).toEqual(['Nothing is remembered under the id f. It may have been changed or forgotten elsewhere.']);
    expect(refreshed).toBe(1);
  });
});
