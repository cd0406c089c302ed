/** The turns of the open session as the extension host keeps them, to redraw a panel that was closed or moved. */

import type { Outcome, Sent, TurnSnapshot } from '../panel';
import type { Mode, TurnEvent } from '../wire';

/** Adds an event to a record; neighbouring pieces of text become one, so that a record stays as small as its text. */
export function appendEvent(events: TurnEvent[], event: TurnEvent): void {
  const last = events[events.length - 1];
  if (last && (event.kind === 'text' || event.kind === 'reasoning') && last.kind === event.kind) {
    events[events.length - 1] = { ...last, delta: last.delta + event.delta, ...(event.seq === undefined ? {} : { seq: event.seq }) };
  } else if (last?.kind === 'usage' && event.kind === 'usage') {
    events[events.length - 1] = event;
  } else {
    events.push(event);
  }
}

/** A turn from the events the server journalled; one without an end was cut by a restart. */
export function replayedTurn(sent: Sent, turnId: string, events: readonly TurnEvent[]): TurnSnapshot {
  const kept: TurnEvent[] = [];
  let text = sent.text;
  let mode = sent.mode;
  let outcome: Outcome | undefined = { kind: 'interrupted' };
  for (const event of events) {
    if (event.kind === 'started') {
      text = event.text ?? text;
      if (event.mode === 'chat' || event.mode === 'agent' || event.mode === 'coder') mode = event.mode;
    }
    // An end the server wrote itself, on finding a turn whose process had died, says so.
    if (event.kind === 'ended') outcome = event.error?.kind === 'interrupted' ? { kind: 'interrupted' } : undefined;
    if (event.kind !== 'ended' || !outcome) appendEvent(kept, event);
  }
  return { ...sent, text, mode, turnId, events: kept, ...(outcome ? { outcome } : {}) };
}

/** A message of a session's history, as `chatls.session.load` shows it. */
export interface HistoryMessage {
  id?: string;
  turnId?: string;
  role: string;
  text: string;
  mode?: Mode;
}

/** A history by turn, in order. Messages that name no turn belong to the turn the last user message opened. */
export function groupByTurn(history: readonly HistoryMessage[]): Map<string, HistoryMessage[]> {
  const turns = new Map<string, HistoryMessage[]>();
  let anonymous = '';
  history.forEach((message, index) => {
    if (!message.turnId && (message.role === 'user' || !anonymous)) anonymous = `history-${index}`;
    const id = message.turnId || anonymous;
    const group = turns.get(id);
    if (group) group.push(message);
    else turns.set(id, [message]);
  });
  return turns;
}

/** The question of a turn of the history. */
export function sentFromHistory(turnId: string, messages: readonly HistoryMessage[]): Sent {
  const question = messages.find((message) => message.role === 'user');
  return { key: turnId, text: question?.text ?? '', mode: question?.mode ?? 'chat', attachments: [] };
}

/** A turn of which only words are left: an imported conversation, or one older than the journal. */
export function turnFromHistory(sent: Sent, turnId: string, messages: readonly HistoryMessage[]): TurnSnapshot {
  const events = messages
    .filter((message) => message.role === 'assistant' && message.text !== '')
    .map((message): TurnEvent => ({ kind: 'text', delta: `${message.text}\n\n` }));
  return { ...sent, turnId, events, outcome: { kind: 'done', stopReason: 'end' } };
}
