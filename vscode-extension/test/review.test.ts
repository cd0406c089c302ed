import { describe, expect, it } from 'vitest';
import { Decisions, proposedLines } from '../src/review/hunks';
import type { ApproveParams, Hunk } from '../src/wire';

const hunk = (id: string, start: number, end: number, newText: string): Hunk => ({
  id,
  range: { start: { line: start, character: 0 }, end: { line: end, character: 0 } },
  newText,
});

const params = (hunks: Hunk[]): ApproveParams => ({
  callId: 'c',
  title: 'Edit',
  toolKind: 'edit',
  options: [
    { id: 'allow', title: 'Accept' },
    { id: 'deny', title: 'Reject' },
  ],
  edits: [{ uri: 'file:///a', hunks }],
});

describe('where a hunk is in the proposed text', () => {
  it('moves with what the hunks before it add and remove, whatever their order', () => {
    const hunks = [hunk('b', 10, 12, 'x\n'), hunk('a', 2, 2, 'one\ntwo\nthree\n'), hunk('c', 20, 21, 'y\n')];
    expect(proposedLines(hunks).map(({ hunk: { id }, line }) => [id, line])).toEqual([
      ['a', 2],
      ['b', 13],
      ['c', 22],
    ]);
  });
});

describe('decisions hunk by hunk', () => {
  const hunks = [hunk('1', 0, 1, 'a\n'), hunk('2', 5, 6, 'b\n')];

  it('are no answer until all are made', () => {
    const decisions = new Decisions(params(hunks));
    decisions.decide('1', true);
    expect(decisions.answer()).toBeUndefined();
    decisions.decide('unknown', true);
    expect(decisions.answer()).toBeUndefined();
  });

  it.each([
    [true, true, { optionId: 'allow' }],
    [true, false, { optionId: 'allow', accepted: ['1'] }],
    [false, false, { optionId: 'deny' }],
  ])('%s and %s', (first, second, answer) => {
    const decisions = new Decisions(params(hunks));
    decisions.decide('1', first);
    decisions.decide('2', second);
    expect(decisions.answer()).toEqual(answer);
  });

  it('of the rest keep what was decided before', () => {
    const decisions = new Decisions(params([...hunks, hunk('3', 30, 31, 'z\n')]));
    expect(decisions.decideRest(true)).toBe(false);
    decisions.decide('2', false);
    expect(decisions.decideRest(true)).toBe(true);
    expect(decisions.answer()).toEqual({ optionId: 'allow', accepted: ['1', '3'] });
  });

  it('can be changed while others are open', () => {
    const decisions = new Decisions(params(hunks));
    decisions.decide('1', true);
    decisions.decide('1', false);
    decisions.decide('2', true);
    expect(decisions.answer()).toEqual({ optionId: 'allow', accepted: ['2'] });
  });
});
