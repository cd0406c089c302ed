import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ChatController, type ChatPorts, type Companions } from '../src/chat/controller';
import type { ToPanel } from '../src/panel';
import type { ApproveParams, ChatParams, ChatResult, TurnEvent } from '../src/wire';

interface Asked {
  params: ChatParams;
  event(event: TurnEvent): void;
  answer(result?: Partial<ChatResult>): void;
  fail(error: unknown): void;
  cancelled: boolean;
}

const NONE: Companions = { labels: [], params: {} };

/** Ports that record what is asked and shown; `commands` answers server commands by name. */
function ports(commands: Record<string, (args: Record<string, unknown>) => unknown> = {}) {
  const shown: ToPanel[] = [];
  const asked: Asked[] = [];
  const memory = new Map<string, unknown>();
  let count = 0;
  const made: ChatPorts = {
    post: (message) => shown.push(message),
    chat: (params, event) => {
      let settle: Pick<Asked, 'answer' | 'fail'>;
      const result = new Promise<ChatResult>((resolve, reject) => {
        settle = { answer: (extra) => resolve({ sessionId: 's1', turnId: `turn${asked.length}`, text: '', stopReason: 'end', usage: { costUsd: null }, ...extra }), fail: reject };
      });
      const entry: Asked = { params, event, answer: (extra) => settle.answer(extra), fail: (error) => settle.fail(error), cancelled: false };
      asked.push(entry);
      return {
        result,
        cancel: () => {
          entry.cancelled = true;
          entry.fail({ code: -32800, message: 'cancelled' });
        },
      };
    },
    command: async (name, args) => ({ markdown: '', data: commands[name]?.(args as Record<string, unknown>) as never }),
    load: <T>(key: string) => memory.get(key) as T | undefined,
    store: (key, value) => void memory.set(key, value),
    onActivity: () => undefined,
    newKey: () => `key${++count}`,
    words: { settledElsewhere: 'elsewhere', stopped: 'stopped', continueText: 'Continue.' },
  };
  return { made, shown, asked, memory };
}

const outcomes = (shown: ToPanel[]) => shown.flatMap((message) => (message.type === 'outcome' ? [message.outcome.kind] : []));

describe('a conversation', () => {
  let world: ReturnType<typeof ports>;
  let chat: ChatController;

  beforeEach(() => {
    world = ports();
    chat = new ChatController(world.made);
  });

  it('names its session from the second message on, in whatever mode', async () => {
    const first = chat.send('one', 'chat', NONE);
    expect(world.asked[0]!.params).toEqual({ text: 'one', mode: 'chat' });
    world.asked[0]!.answer();
    await first;
    void chat.send('two', 'coder', NONE);
    expect(world.asked[1]!.params).toMatchObject({ sessionId: 's1', mode: 'coder' });
  });

  it('shows nothing of an answer twice after the panel was closed and opened', async () => {
    const sending = chat.send('one', 'chat', NONE);
    world.asked[0]!.event({ kind: 'text', delta: 'a', seq: 1, turnId: 't' });
    world.asked[0]!.event({ kind: 'text', delta: 'b', seq: 2, turnId: 't' });
    const { turns } = chat.snapshot();
    expect(turns[0]!.events).toEqual([{ kind: 'text', delta: 'ab', seq: 2, turnId: 't' }]);
    const before = world.shown.length;
    world.asked[0]!.answer();
    await sending;
    expect(world.shown.slice(before).some((message) => message.type === 'events')).toBe(false);
  });

  it('sends what streamed before it says that the answer is complete', async () => {
    const sending = chat.send('one', 'chat', NONE);
    world.asked[0]!.event({ kind: 'text', delta: 'late', seq: 1 });
    world.asked[0]!.answer();
    await sending;
    expect(world.shown.map((message) => message.type)).toEqual(['turn', 'events', 'outcome']);
  });

  it('stops what runs and leaves what waits', async () => {
    void chat.send('one', 'chat', NONE);
    void chat.send('two', 'chat', NONE);
    world.asked[0]!.event({ kind: 'started', seq: 1 });
    world.asked[1]!.event({ kind: 'queued', position: 1, seq: 1 });
    chat.stop();
    await vi.waitFor(() => expect(outcomes(world.shown)).toEqual(['cancelled']));
    expect(world.asked.map((entry) => entry.cancelled)).toEqual([true, false]);
  });

  it('takes a waiting message back without a trace', async () => {
    void chat.send('one', 'chat', NONE);
    void chat.send('two', 'chat', NONE);
    world.asked[1]!.event({ kind: 'queued', position: 1 });
    chat.unqueue('key2');
    await vi.waitFor(() => expect(world.asked[1]!.cancelled).toBe(true));
    expect(world.shown).toContainEqual({ type: 'removed', key: 'key2' });
    expect(chat.snapshot().turns.map((turn) => turn.text)).toEqual(['one']);
    expect(outcomes(world.shown)).toEqual([]);
  });

  it('says why a turn failed and sends it again with what rode along', async () => {
    const companions: Companions = { labels: ['a.py'], params: { mentions: [{ uri: 'file:///a.py' }] } };
    const sending = chat.send('one', 'chat', companions);
    world.asked[0]!.fail({ code: -32010, message: 'busy', data: { kind: 'overloaded', hint: 'wait', retryAfterSeconds: 3 } });
    await sending;
    expect(world.shown).toContainEqual(
      expect.objectContaining({ type: 'outcome', outcome: { kind: 'error', error: { kind: 'overloaded', message: 'busy', hint: 'wait', retryAfterSeconds: 3 } } }),
    );
    void chat.retry('key1');
    expect(world.asked[1]!.params).toMatchObject({ text: 'one', mentions: [{ uri: 'file:///a.py' }] });
    expect(chat.snapshot().turns).toHaveLength(1);
  });

  it('what steers a running turn is answered there, and its questions stay there', async () => {
    void chat.send('one', 'agent', NONE);
    world.asked[0]!.event({ kind: 'started', turnId: 't1', seq: 1 });
    const steering = chat.send('rather this', 'agent', NONE, { steer: true });
    for (const entry of world.asked) entry.event({ kind: 'text', delta: 'x', turnId: 't1', seq: 2 });
    world.asked[1]!.answer({ turnId: 't1', text: 'x' });
    await steering;
    const { turns } = chat.snapshot();
    expect(turns.map((turn) => [turn.text, turn.turnId, turn.events.length])).toEqual([
      ['one', 't1', 2],
      ['rather this', undefined, 0],
    ]);
    expect(turns[1]!.outcome).toEqual({ kind: 'done', stopReason: 'end', text: '' });
  });

  it('what came too late to steer is answered as a question of its own', async () => {
    const steering = chat.send('rather this', 'agent', NONE, { steer: true });
    world.asked[0]!.event({ kind: 'text', delta: 'x', turnId: 't2', seq: 1 });
    world.asked[0]!.answer({ turnId: 't2', text: 'x' });
    await steering;
    expect(chat.snapshot().turns[0]).toMatchObject({ turnId: 't2', events: [{ delta: 'x' }], outcome: { text: 'x' } });
  });

  it('remembers what was sent, newest last and each once', async () => {
    for (const text of ['a', 'b', 'a']) void chat.send(text, 'chat', NONE);
    expect(chat.snapshot().sent).toEqual(['b', 'a']);
  });

  it('keeps a draft for the next window', () => {
    chat.keepDraft('half a thought');
    expect(new ChatController(world.made).snapshot().draft).toBe('half a thought');
  });

  it('an answer of an abandoned session does not bring it back', async () => {
    const sending = chat.send('one', 'chat', NONE);
    chat.newSession();
    world.asked[0]!.answer({ sessionId: 'old' });
    await sending;
    expect(chat.session).toBeUndefined();
    expect(world.asked[0]!.cancelled).toBe(true);
  });
});

describe('questions of the server', () => {
  const params: ApproveParams = { callId: 'c1', title: 'Run', toolKind: 'execute', options: [{ id: 'allow', title: 'Allow' }] };

  it('are answered once, and shown again to a panel that was closed', async () => {
    const world = ports();
    const chat = new ChatController(world.made);
    void chat.send('go', 'agent', NONE);
    world.asked[0]!.event({ kind: 'tool_start', callId: 'c1', name: 'run', label: 'run', toolKind: 'execute', input: {} });
    const answer = chat.ask<{ kind: 'approve'; key: string; params: ApproveParams }>('approve', params, () => undefined);
    expect(chat.snapshot().pending).toEqual([{ kind: 'approve', key: 'key1', params }]);
    expect(chat.settle('c1', { optionId: 'allow' }, 'Allowed')).toBe(true);
    expect(chat.settle('c1', { optionId: 'deny' }, 'Denied')).toBe(false);
    await expect(answer).resolves.toEqual({ optionId: 'allow' });
    expect(chat.waiting).toBe(false);
  });

  it('are closed when the server takes them back or is gone', async () => {
    const world = ports();
    const chat = new ChatController(world.made);
    let takeBack = () => undefined as void;
    const first = chat.ask<{ kind: 'approve'; key: string; params: ApproveParams }>('approve', params, (cancelled) => (takeBack = cancelled));
    takeBack();
    await expect(first).resolves.toBeNull();
    const second = chat.ask<{ kind: 'approve'; key: string; params: ApproveParams }>('approve', params, () => undefined);
    chat.disconnected();
    await expect(second).resolves.toBeNull();
    expect(world.shown.filter((message) => message.type === 'resolved')).toEqual([
      { type: 'resolved', callId: 'c1', text: 'elsewhere', answered: false },
      { type: 'resolved', callId: 'c1', text: 'stopped', answered: false },
    ]);
  });
});

describe('after a reload', () => {
  const events: Record<string, TurnEvent[]> = {
    t1: [
      { kind: 'started', text: 'first', mode: 'coder', seq: 1, turnId: 't1' },
      { kind: 'text', delta: 'one', seq: 2, turnId: 't1' },
      { kind: 'ended', status: 'completed', stopReason: 'end', seq: 3, turnId: 't1' },
    ],
    t2: [
      { kind: 'started', text: 'second', mode: 'chat', seq: 1, turnId: 't2' },
      { kind: 'text', delta: 'tw', seq: 2, turnId: 't2' },
      { kind: 'ended', status: 'cancelled', error: { kind: 'interrupted' }, seq: 3, turnId: 't2' },
    ],
  };

  it('the turns come back as they were, and a cut one can be continued', async () => {
    const world = ports({
      'chatls.session.load': () => ({ history: [{ turnId: 't1', role: 'user', text: 'first' }, { turnId: 't1', role: 'assistant', text: 'one' }] }),
      'chatls.session.events': ({ turnId }) => ({ turnId: turnId ?? 't2', events: events[String(turnId ?? 't2')] }),
    });
    world.memory.set('sessionId', 's1');
    const chat = new ChatController(world.made);
    await chat.replay();
    const { turns } = chat.snapshot();
    expect(turns.map(({ text, mode, outcome }) => [text, mode, outcome?.kind])).toEqual([
      ['first', 'coder', undefined],
      ['second', 'chat', 'interrupted'],
    ]);
    void chat.retry('t2');
    expect(world.asked[0]!.params).toMatchObject({ text: 'Continue.', sessionId: 's1' });
  });

  it('a turn that a rewind took back stays away', async () => {
    const world = ports({
      'chatls.session.load': () => ({ history: [{ turnId: 't0', role: 'user', text: 'zeroth' }] }),
      'chatls.session.events': ({ turnId }) => ({ turnId: turnId ?? 't1', events: events[String(turnId ?? 't1')] ?? [] }),
    });
    world.memory.set('sessionId', 's1');
    const chat = new ChatController(world.made);
    await chat.replay();
    expect(chat.snapshot().turns.map(({ text }) => text)).toEqual(['zeroth']);
  });

  it('a conversation older than the journal comes back in its words', async () => {
    const world = ports({
      'chatls.session.load': () => ({ history: [{ role: 'user', text: 'old' }, { role: 'assistant', text: 'answer' }, { role: 'user', text: 'newer' }] }),
      'chatls.session.events': () => ({ turnId: '', events: [] }),
    });
    world.memory.set('sessionId', 's1');
    const chat = new ChatController(world.made);
    await chat.replay();
    expect(chat.snapshot().turns.map(({ text, events: kept }) => [text, kept.length])).toEqual([
      ['old', 1],
      ['newer', 0],
    ]);
  });

  it('a session opens at the message something was said in, unless an answer runs', async () => {
    const history = [
      { id: 'm1', turnId: 't1', role: 'user', text: 'first' },
      { id: 'm2', turnId: 't2', role: 'user', text: 'second' },
      { id: 'm3', turnId: 't2', role: 'assistant', text: 'answer' },
    ];
    const world = ports({ 'chatls.session.load': () => ({ id: 'old', history }), 'chatls.session.events': () => ({ events: [] }) });
    const chat = new ChatController(world.made);
    expect(await chat.openAt('old', 'm3')).toBe(true);
    expect(chat.session).toBe('old');
    expect(chat.snapshot()).toMatchObject({ reveal: 't2', turns: [{ key: 't1' }, { key: 't2' }] });
    expect(await chat.openAt('old', 't2'), 'what the model remembered is known by its turn').toBe(true);
    expect(chat.snapshot().reveal).toBe('t2');
    expect(await chat.openAt('old', 'gone')).toBe(true);
    expect(chat.snapshot().reveal).toBe('t1');
    void chat.send('more', 'chat', NONE);
    expect(chat.snapshot().reveal).toBeUndefined();
    expect(await chat.openAt('other')).toBe(false);
    expect([chat.session, world.asked[0]!.cancelled]).toEqual(['old', false]);
  });

  it('a message sent meanwhile is not swept away', async () => {
    let release = () => undefined as void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const world = ports();
    world.memory.set('sessionId', 's1');
    world.made.command = async () => {
      await gate;
      return { markdown: '', data: { history: [{ turnId: 't1', role: 'user', text: 'first' }], turnId: '', events: [] } as never };
    };
    const chat = new ChatController(world.made);
    const replaying = chat.replay();
    void chat.send('now', 'chat', NONE);
    release();
    await replaying;
    expect(chat.snapshot().turns.map((turn) => turn.text)).toEqual(['now']);
  });

  it('an undone edit says so, and a redone one does not', async () => {
    const world = ports();
    const chat = new ChatController(world.made);
    const sending = chat.send('fix', 'coder', NONE);
    world.asked[0]!.event({ kind: 'edit', callId: 'c', uri: 'file:///a', status: 'applied', hunks: [] });
    world.asked[0]!.answer({ turnId: 't9' });
    await sending;
    const statuses = () => chat.snapshot().turns[0]!.events.flatMap((event) => (event.kind === 'edit' ? [event.status] : []));
    expect(chat.lastEditedTurn()).toBe('t9');
    chat.markUndone('t9', 'c');
    chat.markUndone('t9', 'c');
    expect(statuses()).toEqual(['applied', 'undone']);
    chat.markUndone('t9', 'c', 'applied');
    expect(statuses()).toEqual(['applied', 'undone', 'applied']);
  });
});
