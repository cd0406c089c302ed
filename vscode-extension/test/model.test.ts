import { describe, expect, it } from 'vitest';
import { activity, applyDialog, applyEvent, applyOutcome, applyResolved, editSize, isDone, lineCount, newTurn, restoredTurn, type Turn } from '../src/webview/model';
import type { Sent } from '../src/panel';
import type { TurnEvent } from '../src/wire';

const sent: Sent = { key: 'k', text: 'why?', mode: 'chat', attachments: [] };

function turnOf(...events: TurnEvent[]): Turn {
  const turn = newTurn(sent);
  for (const event of events) applyEvent(turn, event, 1000);
  return turn;
}

const start = (callId: string): TurnEvent => ({ kind: 'tool_start', callId, name: 'read_file', label: 'read a.py', toolKind: 'read', input: {} });
const hunk = (id: string, line: number, oldText: string, newText: string) => ({
  id,
  range: { start: { line, character: 0 }, end: { line: line + lineCount(oldText), character: 0 } },
  oldText,
  newText,
});

describe('events', () => {
  it('joins neighbouring text and keeps text around a tool apart', () => {
    const turn = turnOf({ kind: 'text', delta: 'a' }, { kind: 'text', delta: 'b' }, start('1'), { kind: 'text', delta: 'c' });
    expect(turn.parts.map((part) => (part.kind === 'text' ? part.text : part.kind))).toEqual(['ab', 'tool', 'c']);
  });

  it('ignores what a replay repeats', () => {
    const turn = turnOf({ kind: 'text', delta: 'a', seq: 1 }, { kind: 'text', delta: 'b', seq: 2 }, { kind: 'text', delta: 'b', seq: 2 });
    expect(turn.parts).toEqual([{ kind: 'text', text: 'ab' }]);
  });

  it('times a tool that ran while the reader watched', () => {
    const turn = newTurn(sent);
    applyEvent(turn, start('1'), 1000);
    applyEvent(turn, { kind: 'tool_end', callId: '1', status: 'completed', output: 'x' }, 2500);
    expect(turn.parts[0]).toMatchObject({ status: 'completed', output: 'x', seconds: 1.5 });
  });

  it('follows an edit through its life without losing its hunks', () => {
    const edit = (status: 'proposed' | 'applied', hunks = [hunk('h', 1, 'a\n', 'b\n')]): TurnEvent => ({ kind: 'edit', callId: '1', uri: 'file:///a', status, hunks });
    const turn = turnOf(edit('proposed'), edit('applied', []));
    expect(turn.parts).toHaveLength(1);
    expect(turn.parts[0]).toMatchObject({ status: 'applied', hunks: [{ id: 'h' }] });
  });

  it('leaves out an empty context', () => {
    expect(turnOf({ kind: 'context', rules: [], facts: [] }).parts).toEqual([]);
  });
});

describe('what it is doing', () => {
  it('is named by the running tool, then by the writing', () => {
    const turn = turnOf({ kind: 'started' });
    expect(activity(turn)).toEqual({ kind: 'thinking' });
    applyEvent(turn, start('1'));
    expect(activity(turn)).toEqual({ kind: 'tool', label: 'read a.py' });
    applyEvent(turn, { kind: 'tool_end', callId: '1', status: 'completed' });
    applyEvent(turn, { kind: 'text', delta: 'x' });
    expect(activity(turn)).toEqual({ kind: 'writing' });
    applyOutcome(turn, { kind: 'done', stopReason: 'end' });
    expect(activity(turn)).toBeUndefined();
  });

  it('says the place in the queue until it starts', () => {
    const turn = turnOf({ kind: 'queued', position: 2 });
    expect(activity(turn)).toEqual({ kind: 'queued', position: 2 });
    applyEvent(turn, { kind: 'started' });
    expect(turn.state).toBe('running');
  });
});

describe('how it ends', () => {
  it('shows an answer that never streamed, and never twice', () => {
    const silent = turnOf();
    applyOutcome(silent, { kind: 'done', stopReason: 'end', text: 'whole' });
    expect(silent.parts).toEqual([{ kind: 'text', text: 'whole' }]);
    const streamed = turnOf({ kind: 'text', delta: 'whole' });
    applyOutcome(streamed, { kind: 'done', stopReason: 'end', text: 'whole' });
    expect(streamed.parts).toEqual([{ kind: 'text', text: 'whole' }]);
  });

  it('closes tools and proposals that a stop left open', () => {
    const turn = turnOf(start('1'), { kind: 'edit', callId: '2', uri: 'file:///a', status: 'proposed', hunks: [] });
    applyOutcome(turn, { kind: 'cancelled' });
    expect(turn.parts.map((part) => ('status' in part ? part.status : ''))).toEqual(['failed', 'rejected']);
  });

  it('leaves no step of a plan in progress', () => {
    const entries = [{ text: 'a', status: 'completed' }, { text: 'b', status: 'in_progress' }, { text: 'c', status: 'pending' }];
    const turn = turnOf({ kind: 'plan', entries });
    applyOutcome(turn, { kind: 'interrupted' });
    expect(turn.parts).toEqual([{ kind: 'plan', entries: [entries[0], { text: 'b', status: 'pending' }, entries[2]] }]);
  });

  it('restores a journalled failure with its kind', () => {
    const turn = restoredTurn({
      ...sent,
      events: [
        { kind: 'text', delta: 'half', seq: 1 },
        { kind: 'ended', status: 'failed', error: { kind: 'rate_limit', message: 'slow down', hint: 'wait' }, seq: 2 },
      ],
    });
    expect(turn.state).toBe('error');
    expect(turn.outcome).toMatchObject({ error: { kind: 'rate_limit', message: 'slow down' } });
  });
});

describe('questions', () => {
  const options = [
    { id: 'allow', title: 'Allow' },
    { id: 'deny', title: 'Deny' },
  ];

  it('puts an edit under review onto its card, even when no event announced it', () => {
    const turn = turnOf();
    applyDialog(turn, {
      kind: 'approve',
      key: 'k',
      params: { callId: '1', title: 'Edit', toolKind: 'edit', options, edits: [{ uri: 'file:///a', hunks: [hunk('h', 0, 'x\n', 'y\n')] }] },
    });
    expect(turn.parts.map((part) => part.kind)).toEqual(['edit', 'dialog']);
    expect(activity(turn)).toEqual({ kind: 'waiting' });
  });

  it('is settled once, and its card goes when the call’s row tells the rest', () => {
    const turn = turnOf(start('1'));
    applyDialog(turn, { kind: 'approve', key: 'k', params: { callId: '1', title: 'Run', toolKind: 'execute', options } });
    const dialog = turn.parts[1]!;
    if (dialog.kind !== 'dialog') throw new Error('expected a question');
    applyResolved(turn, '1', 'Denied', true);
    applyResolved(turn, '1', 'Settled elsewhere', false);
    expect(dialog.settled).toBe('Denied');
    expect(isDone(turn, dialog)).toBe(false);
    applyEvent(turn, { kind: 'tool_end', callId: '1', status: 'denied' });
    expect(isDone(turn, dialog)).toBe(true);
  });
});

describe('the size of an edit', () => {
  it('counts lines, not newlines', () => {
    expect(lineCount('')).toBe(0);
    expect(lineCount('a')).toBe(1);
    expect(lineCount('a\r\nb\r')).toBe(2);
    expect(editSize([hunk('1', 0, 'a\nb\n', 'c'), hunk('2', 9, '', 'x\ny\n')])).toEqual({ added: 3, removed: 2 });
  });
});
