import { describe, expect, it } from 'vitest';
import { checkpointRows, partsOf } from '../src/views/context-state';
import { instructionRows, instructionTokens } from '../src/views/instruction-rows';
import { nodeDetails } from '../src/views/graph-details';
import { quoted } from '../src/views/memory-items';
import { memoryRows, onlyThose, recallRows, scoreBar } from '../src/views/memory-rows';
import { learningLine, memoryLine } from '../src/views/memory-words';
import type { Row } from '../src/views/rows';

const find = (rows: Row[], label: string): Row | undefined =>
  rows.find((row) => row.label === label) ?? rows.flatMap((row) => find(row.children ?? [], label) ?? [])[0];

describe('the Instructions view', () => {
  const entry = (id: string, status: string, extra = {}) => ({ id, kind: 'rule', title: id, uri: `file:///w/${id}.md`, status, bytes: 40, tokens: 4, ...extra });
  const report = {
    files: [entry('AGENTS.md', 'system', { kind: 'agents', tokens: 10 })],
    rules: [entry('python', 'turn'), entry('docs', 'unmatched', { tokens: 0 }), entry('hidden', 'shadowed', { tokens: 0 })],
    imports: [
      { source: 'file:///w/AGENTS.md', line: 4, written: 'a b.md', uri: 'file:///w/a%20b.md', status: 'missing', reason: 'there is no such file' },
      { source: 'file:///w/AGENTS.md', line: 5, written: 'notes.md', uri: 'file:///w/notes.md', status: 'expanded', reason: '' },
    ],
    cut: [],
  };

  it('keeps apart what applies and what does not', () => {
    const rows = instructionRows(report);
    expect(rows.map((row) => row.label)).toEqual(['Files', 'Rules That Apply', 'Imports', 'Rules That Do Not Apply']);
    expect(rows[1]!.children!.map((row) => row.label)).toEqual(['python']);
    expect(rows[3]!.children!.map((row) => row.label)).toEqual(['docs', 'hidden']);
    expect(rows[3]!.expanded).toBe(false);
    expect(instructionTokens(report)).toBe(14);
  });

  it('a broken import leads to the line that names it, a whole one to its target', () => {
    const rows = instructionRows(report);
    expect(find(rows, 'a b.md')).toMatchObject({ description: 'there is no such file · AGENTS.md:5', icon: 'warning', open: { uri: 'file:///w/AGENTS.md', line: 5 } });
    expect(find(rows, 'notes.md')!.open).toEqual({ uri: 'file:///w/notes.md' });
  });

  it('is empty when nothing speaks', () => {
    expect(instructionRows({})).toEqual([]);
  });
});

describe('the Memory view', () => {
  const nothing = { waiting: [], facts: [], total: 0, profile: [], projects: [], topics: [], episodes: [], digests: [] };
  const fact = { id: 'f1', content: 'We deploy\non Thursdays', category: 'general', score: 2, confidence: 0.9, ageDays: 3, pinned: true, sensitive: false };

  it('is empty when nothing is remembered', () => {
    expect(memoryRows(nothing)).toEqual([]);
  });

  it('shows facts by category with score, age and marks, also to a screen reader', () => {
    const rows = memoryRows({ ...nothing, facts: [fact, { ...fact, id: 'f2', content: 'x', category: 'a', score: 1, ageDays: 0, pinned: false, sensitive: true }], total: 2 });
    expect(rows[0]!.children!.map((row) => row.label)).toEqual(['a', 'general']);
    const shown = find(rows, 'We deploy on Thursdays')!;
    expect(shown.description).toBe('▰▰▰▰▰ · 3 d · 90 % · pinned');
    expect(shown.speech).toBe('We deploy on Thursdays, score 2.0, 3 days old, confidence 90 %, pinned');
    expect(shown.actions).toBe('fact.pinned.open');
    expect([shown.icon, find(rows, 'x')!.icon]).toEqual(['pinned', 'lock']);
    const marks = [0.1, 1, 2].map((score, index) => find(memoryRows({ ...nothing, facts: [fact, { ...fact, id: 'y', content: 'y', score, pinned: false }], total: 2 }), 'y')!.icon ?? index);
    expect(marks, 'the larger the score, the larger the mark').toEqual(['circle-small', 'circle-small-filled', 'circle-filled']);
    expect(shown.tooltip).toContain('general · score 2.0 · 3 d · confidence 90 % · pinned');
    expect(find(rows, 'x')).toMatchObject({ description: '▰▰▰▱▱ · today · 90 % · sensitive', actions: 'fact.loose.sensitive' });
  });

  it('says who a fact is from, and offers the conversation where there is one', () => {
    const sources = [{ kind: 'extraction', session: 's1', message: 'm1', time: '2026-03-02T09:00:00Z' }];
    const rows = memoryRows({ ...nothing, facts: [{ ...fact, sources }], total: 1 });
    expect(find(rows, 'We deploy on Thursdays')).toMatchObject({
      description: '▰▰▰▰▰ · 3 d · 90 % · learned · pinned',
      actions: 'fact.pinned.said.open',
      target: { origin: { session: 's1', message: 'm1' } },
    });
  });

  it('puts what waits for an answer first', () => {
    const items = [{ id: 'w1', kind: 'fact', text: 'Billing is in Rust', category: 'project', date: '2026-03-02T09:00:00Z', external: true, session: 's' }, { id: 'w2', kind: 'episode', text: 'Shipped it' }];
    const [waiting] = memoryRows({ ...nothing, waiting: items, facts: [fact], total: 1 });
    expect(waiting).toMatchObject({ label: 'Waiting for You', description: '2', actions: 'waitingGroup', target: { ids: ['w1', 'w2'] } });
    expect(waiting!.children!.map((row) => row.description)).toEqual(['project · 2026-03-02 · from a conversation with outside content', 'episode']);
    expect(waiting!.children![0]!.target!.origin).toEqual({ session: 's' });
  });

  it('lists digests by the name people use', () => {
    const month = { name: 'monthly/2026-02', kind: 'monthly', title: '2026-02', start: '2026-02-01', end: '2026-02-28', text: '- shipped' };
    const week = { name: 'weekly/2026-W07', kind: 'weekly', title: '2026-W07', start: '2026-02-09', end: '2026-02-15', text: '- began' };
    const [digests] = memoryRows({ ...nothing, digests: [month, week] });
    expect(digests!.children!.map((row) => [row.label, row.description, row.tooltip])).toEqual([
      ['February 2026', undefined, '- shipped'],
      ['Week 7 of 2026', '2026-02-09 – 2026-02-15', '- began'],
    ]);
  });

  it('can show only what was just remembered', () => {
    const episode = { id: 'ep_1', date: '2026-03-02T09:00:00Z', summary: 'Shipped it' };
    const all = { ...nothing, facts: [fact, { ...fact, id: 'f2', content: 'other' }], total: 2, episodes: [episode], topics: [{ name: 'ci' }] };
    expect(memoryRows(onlyThose(all, new Set(['f2', 'ep_1']))).map((row) => row.label)).toEqual(['Facts', 'Timeline']);
  });

  it('a change of memory is one line of words', () => {
    expect(memoryLine({ added: ['a', 'b', 'ep_1', 'topic:x'], changed: ['profile:name'], background: true })).toEqual({
      text: 'Remembered 2 facts, 1 profile entry, 1 topic, 1 episode',
      ids: ['a', 'b', 'ep_1', 'topic:x', 'profile:name'],
    });
    expect(memoryLine({ added: ['a'] })!.text).toBe('Remembered 1 fact');
    expect(memoryLine({ changed: ['review:1', 'review:2'], background: true })).toEqual({ text: '2 items wait for your review', ids: ['review:1', 'review:2'] });
    expect(memoryLine({ added: ['m'], removed: ['x', 'y'], background: true })!.text).toBe('Memory was tidied');
    expect(memoryLine({ added: ['new'], removed: ['old'], background: true })!.text).toBe('Remembered 1 fact');
    expect(memoryLine({ changed: ['a'], removed: ['b'] })).toBeUndefined();
    expect(memoryLine({ added: ['a'], elsewhere: true }), 'the other window tells of it').toBeUndefined();
  });

  it('says once that learning fails, and once that it works again', () => {
    const failing = { notice: 'Learning fails (2 times).', failing: true };
    expect(learningLine(undefined, failing)).toEqual({ level: 'warning', text: 'Learning fails (2 times).' });
    expect(learningLine(failing, failing)).toBeUndefined();
    expect(learningLine(failing, { notice: 'remembered 1 fact', failing: false })!.level).toBe('info');
    expect(learningLine(undefined, { notice: 'remembered 1 fact' })).toBeUndefined();
  });

  it('claims no age of a fact nobody dated', () => {
    const undated = { ...fact, validFrom: '1970-01-01T00:00:00+00:00', ageDays: 20_605 };
    expect(find(memoryRows({ ...nothing, facts: [undated], total: 1 }), 'We deploy on Thursdays')!.description).toBe('▰▰▰▰▰ · 90 % · pinned');
  });

  it('reads the facts of a category when it is opened, where there are thousands', async () => {
    const load = async (category: string) => [{ ...fact, category }];
    const more = { counts: { general: 4990, gotcha: 10 }, best: 4, load };
    const [facts] = memoryRows({ ...nothing, total: 5000, more });
    expect(facts!.description).toBe('5,000');
    expect(facts!.children!.map((row) => [row.label, row.description, row.children])).toEqual([['general', '4,990', undefined], ['gotcha', '10', undefined]]);
    const [first, rest] = await facts!.children![0]!.load!();
    expect(first).toMatchObject({ label: 'We deploy on Thursdays', description: '▰▰▰▱▱ · 3 d · 90 % · pinned' });
    expect(rest).toMatchObject({ label: '4,989 more…', command: { command: 'chatls.ui.view.memory.more', arguments: ['general'] } });
  });

  it('says what cannot be read instead of that nothing is remembered', () => {
    const problem = 'memory_index.json is encrypted with another key.';
    expect(memoryRows({ ...nothing, problems: [problem] })).toMatchObject([{ label: problem, icon: 'warning' }]);
    const [group] = memoryRows({ ...nothing, problems: [problem, 'another'] });
    expect(group).toMatchObject({ label: '2 files of memory need a look', expanded: true });
    expect(group!.children!.map(({ label }) => label)).toEqual([problem, 'another']);
  });

  it('text that turns the direction of writing, or is long, spoils no row', () => {
    const long = { ...fact, content: `\u202eabc\n${'W'.repeat(400)}` };
    const row = find(memoryRows({ ...nothing, facts: [long], total: 1 }), `abc ${'W'.repeat(115)}…`)!;
    expect(row.tooltip).toContain('W'.repeat(400));
    const [profile] = memoryRows({ ...nothing, profile: [{ key: 'skills', value: 'Go\nRust' }] });
    expect(profile!.children![0]!.description).toBe('Go Rust');
  });

  it('days are local ones, and a day nobody gave an hour to stays that day', () => {
    const late = { id: 'ep_1', date: '2026-11-02T00:00:00+00:00', summary: 'Shipped' };
    const [timeline] = memoryRows({ ...nothing, episodes: [late], episodeTotal: 620 });
    expect(timeline!.description).toBe('620');
    expect(timeline!.children!.map((row) => row.label)).toEqual(['November 2026', '619 older; search to see them']);
    expect(find([timeline!], 'Shipped')!.description).toBe('2026-11-02');
  });

  it('every kind of item leads to the conversation it was said in', () => {
    const source = { kind: 'extraction', session: 's1', message: 'm1', time: '2026-03-02T09:00:00Z' };
    const rows = memoryRows({
      ...nothing,
      profile: [{ id: 'profile:name', key: 'name', value: 'Ana', said: source }],
      projects: [{ name: 'atlas', source }],
      topics: [{ name: 'ci', mentions: 1, source }],
      episodes: [{ id: 'ep_1', date: '2026-11-02T10:00:00Z', summary: 'Shipped', source }],
    });
    for (const label of ['name', 'atlas', 'ci', 'Shipped']) {
      const row = find(rows, label)!;
      expect(row.actions, label).toMatch(/\.said/);
      expect(row.target!.origin, label).toEqual({ session: 's1', message: 'm1' });
      expect(row.command!.command, label).toBe('chatls.ui.memory.item.details');
    }
  });

  it('puts episodes under their month, the newest first', () => {
    const episode = (id: string, date: string) => ({ id, date: `${date}T10:00:00Z`, summary: id });
    const [timeline] = memoryRows({ ...nothing, episodes: [episode('old', '2026-02-03'), episode('early', '2026-11-02'), episode('late', '2026-11-20')] });
    expect(timeline!.children!.map((row) => row.label)).toEqual(['November 2026', 'February 2026']);
    expect(timeline!.children![0]!.children!.map((row) => row.label)).toEqual(['late', 'early']);
  });

  it('an episode says when, how it ended and in which project', () => {
    const [timeline] = memoryRows({ ...nothing, episodes: [{ id: 'ep_1', date: '2026-11-02T10:00:00Z', summary: 'Shipped', outcome: 'works', project: '/home/me/atlas/' }] });
    expect(find([timeline!], 'Shipped')!.description).toBe('2026-11-02 · works · atlas');
  });

  it('a search says why something was found', () => {
    expect(recallRows([{ kind: 'fact', id: 'f', text: 'We deploy', why: 'has deploy' }])[0]).toMatchObject({ label: 'We deploy', description: 'fact · has deploy' });
  });

  it('a bar is never empty for a score, and never longer than five', () => {
    expect([scoreBar(0, 2), scoreBar(0.01, 2), scoreBar(2, 2), scoreBar(9, 2), scoreBar(0, 0)]).toEqual(['▱▱▱▱▱', '▰▱▱▱▱', '▰▰▰▰▰', '▰▰▰▰▰', '▱▱▱▱▱']);
  });

  it('marks what is private in the profile', () => {
    const [profile] = memoryRows({ ...nothing, profile: [{ key: 'salary', value: '1', source: 'user', sensitive: true }, { key: 'name', value: 'Ana', stale: true }] });
    expect(profile!.children!.map(({ description, actions, icon }) => [description, actions, icon])).toEqual([
      ['1 · sensitive', 'profile.sensitive', 'lock'],
      ['Ana · perhaps outdated', 'profile.open', undefined],
    ]);
  });

  it('entries of one list are rows of their own, edited without their date or reason', () => {
    const entry = (id: string, key: string, value: string) => ({ id, key, value });
    const [profile] = memoryRows({
      ...nothing,
      profile: [
        entry('profile:skills:Go', 'skills', 'Go'),
        entry('profile:skills:Rust, async', 'skills', 'Rust, async'),
        entry('profile:milestones:the CKA', 'milestones', '[2025-03-01] the CKA'),
        { key: 'env_os', value: 'Linux' },
        { key: 'env_os', value: 'macOS' },
      ],
    });
    const rows = profile!.children!;
    expect(new Set(rows.map(({ id }) => id)).size).toBe(5);
    expect(rows.map(({ target }) => [target!.id, target!.key, target!.text]).slice(0, 4)).toEqual([
      ['profile:skills:Go', 'skills', 'Go'],
      ['profile:skills:Rust, async', 'skills', 'Rust, async'],
      ['profile:milestones:the CKA', 'milestones', 'the CKA'],
      ['profile:env_os', 'env_os', 'Linux'],
    ]);
    const [found] = recallRows([{ kind: 'profile', id: 'profile:skills:Go', text: 'skills: Go' }]);
    expect(found).toMatchObject({ label: 'skills: Go', target: { id: 'profile:skills:Go', key: 'skills', text: 'Go' } });
  });

  it('a node of the graph tells its latest sources first, and its facts', () => {
    const at = (day: number, session?: string) => ({ kind: 'user', time: `2026-03-0${day}T12:00:00Z`, ...(session ? { session, message: 'm' } : {}) });
    expect(nodeDetails({ text: 'in Redis', sources: [at(1), at(2, 's')], facts: [{ ...fact, content: 'It is Redis' }] })).toEqual({
      text: 'in Redis',
      sources: [{ words: 'you, 2026-03-02', session: 's', message: 'm' }, { words: 'you, 2026-03-01' }],
      facts: [{ id: 'fact:f1', text: 'It is Redis', category: 'general' }],
    });
    expect(nodeDetails(undefined)).toEqual({ text: '', sources: [], facts: [] });
  });

  it('quotes the message something was said in, with its neighbours', () => {
    const history = ['one', 'two', 'three', 'four'].map((text) => ({ id: text, role: 'user', text }));
    const markdown = quoted({ title: 'Talk', history }, 'three');
    expect(markdown).toMatch(/^## Talk/);
    expect(markdown).toContain('▶ **user**\n\n> three');
    expect(markdown).toContain('> two');
    expect(markdown).not.toContain('> one');
    expect(quoted({ history: [{ role: 'user', turnId: 't1', text: 'by its turn' }] }, 't1')).toContain('▶ **user**');
  });
});

describe('the Context view', () => {
  const message = (kind: string, text: string, role = 'user') => ({ role, kind, text, tokens: text.length });

  it('has a bar per section, one for the conversation and one for the turn context', () => {
    const parts = partsOf({
      sections: [{ name: 'mode', text: 'You are', tokens: 7, cached: true }],
      messages: [message('turn_context', 'ctx'), message('text', 'hello'), message('text', 'answer', 'assistant'), message('turn_context', 'more'), message('text', 'new')],
    });
    expect(parts.map(({ name, tokens, cached }) => [name, tokens, cached])).toEqual([
      ['mode', 7, 7],
      ['conversation', 14, 11],
      ['turn context', 7, 3],
    ]);
    expect(parts[1]!.text).toBe('### user\n\nhello\n\n### assistant\n\nanswer\n\n### user\n\nnew');
  });

  it('leaves out what is empty', () => {
    expect(partsOf({ messages: [message('text', '')] })).toEqual([]);
  });

  it('lists checkpoints from the newest', () => {
    const rows = checkpointRows([{ id: 'a', label: 'first', time: '2026-11-01T10:00:00Z' }, { id: 'b', time: '2026-11-02T10:00:00Z' }], 'en');
    expect(rows.map((row) => row.label)).toEqual(['b', 'first']);
  });
});
