/** The turns of the open session as the extension host keeps them, to redraw a panel that was closed or moved. */

import type { Outcome, Sent, TurnSnapshot } from '../panel';
import type { TurnEvent } from '../wire';

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
    if (event.kind === 'ended') outcome = undefined;
    appendEvent(kept, event);
  }
  return { ...sent, text, mode, turnId, events: kept, ...(outcome ? { outcome } : {}) };
}
