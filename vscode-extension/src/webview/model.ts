/** The conversation as the panel draws it: protocol events folded into parts. Pure: no DOM, no clock of its own. */

import type { Failure, Outcome, PendingDialog, Sent, TurnSnapshot } from '../panel';
import type { ContextItem, Hunk, Location, NoticeLevel, TurnEvent, Usage } from '../wire';

export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | {
      kind: 'tool';
      callId: string;
      label: string;
      name: string;
      toolKind: string;
      input: unknown;
      locations: Location[];
      /** `running`, or how it ended: completed, failed, denied. */
      status: string;
      output: string;
      startedAt?: number;
      seconds?: number;
    }
  | {
      kind: 'edit';
      callId: string;
      uri: string;
      hunks: Hunk[];
      status: string;
      syntaxErrors: { line: number; message: string }[];
      reason: string;
      decided: { accepted: string[]; rejected: string[] };
    }
  | { kind: 'plan'; entries: { text: string; status: string }[] }
  | { kind: 'notice'; level: NoticeLevel; text: string }
  | { kind: 'context'; groups: { name: 'rules' | 'files' | 'facts' | 'skills'; items: ContextItem[] }[] }
  | { kind: 'dialog'; dialog: PendingDialog; settled?: string; answered?: boolean };

export type TurnState = 'queued' | 'running' | 'done' | 'cancelled' | 'interrupted' | 'error';

export interface Turn {
  sent: Sent;
  turnId: string;
  state: TurnState;
  position: number;
  model: string;
  provider: string;
  parts: Part[];
  outcome?: Outcome;
  usage?: Usage;
  lastSeq: number;
  startedAt?: number;
}

/** A turn that was just sent. */
export function newTurn(sent: Sent): Turn {
  return { sent, turnId: '', state: 'running', position: 0, model: '', provider: '', parts: [], lastSeq: 0 };
}

/** A turn from the record the extension host or the server's journal keeps. */
export function restoredTurn(snapshot: TurnSnapshot): Turn {
  const turn = newTurn(snapshot);
  turn.turnId = snapshot.turnId ?? '';
  for (const event of snapshot.events) applyEvent(turn, event);
  if (snapshot.outcome) applyOutcome(turn, snapshot.outcome, snapshot.turnId);
  return turn;
}

function lastPart(turn: Turn): Part | undefined {
  return turn.parts[turn.parts.length - 1];
}

function findTool(turn: Turn, callId: string) {
  return turn.parts.find((part): part is Extract<Part, { kind: 'tool' }> => part.kind === 'tool' && part.callId === callId);
}

function findEdit(turn: Turn, callId: string, uri: string) {
  return turn.parts.find(
    (part): part is Extract<Part, { kind: 'edit' }> => part.kind === 'edit' && part.callId === callId && part.uri === uri,
  );
}

/**
 * Folds one event into a turn. `now` (milliseconds) times what runs while the reader watches; a replay passes none.
 * An event that was seen already (`seq`) changes nothing, so that a replay may overlap with the live stream.
 */
export function applyEvent(turn: Turn, event: TurnEvent, now?: number): void {
  if (event.turnId && !turn.turnId) turn.turnId = event.turnId;
  if (event.seq !== undefined) {
    if (event.seq <= turn.lastSeq) return;
    turn.lastSeq = event.seq;
  }
  const last = lastPart(turn);
  switch (event.kind) {
    case 'queued':
      turn.state = 'queued';
      turn.position = event.position;
      return;
    case 'started':
      turn.state = 'running';
      turn.model = event.model || turn.model;
      turn.provider = event.provider || turn.provider;
      if (now !== undefined) turn.startedAt = now;
      return;
    case 'text':
    case 'reasoning':
      if (last?.kind === event.kind) last.text += event.delta;
      else turn.parts.push({ kind: event.kind, text: event.delta });
      return;
    case 'tool_start':
      turn.parts.push({
        kind: 'tool',
        callId: event.callId,
        label: event.label,
        name: event.name,
        toolKind: event.toolKind,
        input: event.input,
        locations: event.locations ?? [],
        status: 'running',
        output: '',
        ...(now === undefined ? {} : { startedAt: now }),
      });
      return;
    case 'tool_end': {
      const tool = findTool(turn, event.callId);
      if (!tool) return;
      tool.status = event.status;
      tool.output = event.output ?? '';
      if (event.locations?.length) tool.locations = event.locations;
      if (now !== undefined && tool.startedAt !== undefined) tool.seconds = (now - tool.startedAt) / 1000;
      return;
    }
    case 'edit': {
      const edit = findEdit(turn, event.callId, event.uri);
      const changed = {
        status: event.status,
        syntaxErrors: event.syntaxErrors ?? edit?.syntaxErrors ?? [],
        reason: event.reason ?? '',
        hunks: event.hunks?.length ? event.hunks : (edit?.hunks ?? []),
      };
      if (edit) Object.assign(edit, changed);
      else {
        const decided = { accepted: [], rejected: [] };
        turn.parts.push({ kind: 'edit', callId: event.callId, uri: event.uri, decided, ...changed });
      }
      return;
    }
    case 'plan': {
      const plan = turn.parts.find((part) => part.kind === 'plan');
      if (plan?.kind === 'plan') plan.entries = event.entries;
      else turn.parts.push({ kind: 'plan', entries: event.entries });
      return;
    }
    case 'notice':
      turn.parts.push({ kind: 'notice', level: event.level, text: event.text });
      return;
    case 'context': {
      const groups = (['rules', 'files', 'facts', 'skills'] as const)
        .map((name) => ({ name, items: event[name] ?? [] }))
        .filter((group) => group.items.length > 0);
      if (groups.length) turn.parts.push({ kind: 'context', groups });
      return;
    }
    case 'usage':
      turn.usage = event.usage ?? event;
      return;
    case 'ended':
      applyEnded(turn, event);
  }
}

function applyEnded(turn: Turn, event: Extract<TurnEvent, { kind: 'ended' }>): void {
  if (event.status === 'completed') {
    applyOutcome(turn, { kind: 'done', stopReason: event.stopReason || 'end' });
  } else if (event.status === 'cancelled') {
    applyOutcome(turn, { kind: 'cancelled' });
  } else {
    applyOutcome(turn, { kind: 'error', error: journalledFailure(event.error ?? {}) });
  }
}

function journalledFailure({ kind, message, hint, provider, retryAfterSeconds }: Record<string, unknown>): Failure {
  return {
    kind: typeof kind === 'string' ? kind : 'internal',
    message: typeof message === 'string' ? message : '',
    ...(typeof hint === 'string' ? { hint } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
  };
}

/** Ends a turn: what still ran is closed, and an answer that never streamed is shown. */
export function applyOutcome(turn: Turn, outcome: Outcome, turnId?: string): void {
  if (turnId) turn.turnId = turnId;
  turn.outcome = outcome;
  turn.state = outcome.kind === 'error' ? 'error' : outcome.kind;
  if (outcome.kind === 'done') {
    if (outcome.usage) turn.usage = outcome.usage;
    if (outcome.text && !turn.parts.some((part) => part.kind === 'text')) {
      turn.parts.push({ kind: 'text', text: outcome.text });
    }
  }
  for (const part of turn.parts) {
    if (part.kind === 'tool' && part.status === 'running') part.status = outcome.kind === 'done' ? 'completed' : 'failed';
    if (part.kind === 'edit' && part.status === 'proposed' && outcome.kind !== 'done') part.status = 'rejected';
    if (part.kind === 'plan') {
      part.entries = part.entries.map((entry) => (entry.status === 'in_progress' ? { ...entry, status: 'pending' } : entry));
    }
  }
}

/** Places a question of the server: edits under review belong to their cards, everything else gets a card of its own. */
export function applyDialog(turn: Turn, dialog: PendingDialog): void {
  const edits = dialog.kind === 'approve' ? (dialog.params.edits ?? []) : [];
  for (const file of edits) {
    const edit = findEdit(turn, dialog.params.callId, file.uri);
    if (edit) {
      edit.status = 'proposed';
      continue;
    }
    const decided = { accepted: [], rejected: [] };
    const { uri, hunks } = file;
    const { callId } = dialog.params;
    turn.parts.push({ kind: 'edit', callId, uri, hunks, status: 'proposed', syntaxErrors: [], reason: '', decided });
  }
  turn.parts.push({ kind: 'dialog', dialog });
}

/** Settles a question; `text` says how, `answered` whether the user did it here. */
export function applyResolved(turn: Turn, callId: string, text: string, answered: boolean): void {
  for (const part of turn.parts) {
    if (part.kind !== 'dialog' || part.dialog.params.callId !== callId || part.settled !== undefined) continue;
    part.settled = text;
    part.answered = answered;
  }
}

/** Whether a question needs no card any more: the user answered it, and the call's own row says how it went. */
export function isDone(turn: Turn, part: Extract<Part, { kind: 'dialog' }>): boolean {
  const tool = findTool(turn, part.dialog.params.callId);
  return part.answered === true && tool !== undefined && tool.status !== 'running';
}

/** Notes which hunks of a proposed edit were decided in the diff editor. */
export function applyHunks(turn: Turn, callId: string, accepted: string[], rejected: string[]): void {
  for (const part of turn.parts) {
    if (part.kind === 'edit' && part.callId === callId) part.decided = { accepted, rejected };
  }
}

/** What the turn is doing, as data for one line of words; `undefined` when it is not running. */
export type Activity = { kind: 'queued'; position: number } | { kind: 'tool'; label: string } | { kind: 'waiting' | 'writing' | 'thinking' };

/** What the turn is doing right now. */
export function activity(turn: Turn): Activity | undefined {
  if (turn.state === 'queued') return { kind: 'queued', position: turn.position };
  if (turn.state !== 'running') return undefined;
  if (turn.parts.some((part) => part.kind === 'dialog' && part.settled === undefined)) return { kind: 'waiting' };
  const tool = turn.parts.findLast((part) => part.kind === 'tool' && part.status === 'running');
  if (tool?.kind === 'tool') return { kind: 'tool', label: tool.label };
  return { kind: lastPart(turn)?.kind === 'text' ? 'writing' : 'thinking' };
}

/** The added and removed lines of an edit. */
export function editSize(hunks: Hunk[]): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const hunk of hunks) {
    added += lineCount(hunk.newText);
    removed += hunk.oldText === undefined ? hunk.range.end.line - hunk.range.start.line : lineCount(hunk.oldText);
  }
  return { added, removed };
}

/** Lines of a text; a final newline ends the last line and begins no new one. */
export function lineCount(text: string): number {
  if (text === '') return 0;
  return text.split(/\r\n|\r|\n/).length - (/[\r\n]$/.test(text) ? 1 : 0);
}
