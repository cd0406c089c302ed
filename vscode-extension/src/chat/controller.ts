/** One conversation as the extension host runs it: sends, streams, stops, queues, and replays after a reload. */

import type { Outcome, PendingDialog, Sent, ToPanel, TurnSnapshot } from '../panel';
import type { Answers, ApproveResult, ChatParams, ChatResult, CommandResult, Mode, TurnEvent } from '../wire';
import { Batcher } from './batcher';
import { failureOf, isCancelled } from './failure';
import { appendEvent, groupByTurn, replayedTurn, sentFromHistory, turnFromHistory, type HistoryMessage } from './record';

/** A request in flight. */
export interface Running {
  result: Promise<ChatResult>;
  cancel(): void;
}

/** What the controller needs from its surroundings; VS Code and the language client stay behind it. */
export interface ChatPorts {
  /** Shows a message in the panel, if there is one. */
  post(message: ToPanel): void;
  /** Sends `chatls/chat`; events arrive through `onEvent` until the result settles. */
  chat(params: ChatParams, onEvent: (event: TurnEvent) => void): Running;
  /** Runs a server command; undefined when the server does not know it. */
  command<T>(name: string, args: object): Promise<CommandResult<T>>;
  /** State that outlives a reload of the window. */
  load<T>(key: string): T | undefined;
  store(key: string, value: unknown): void;
  /** Something about running turns or open questions changed. */
  onActivity(): void;
  newKey(): string;
  words: { settledElsewhere: string; stopped: string; continueText: string };
}

/** What rides along with a message. */
export interface Companions {
  labels: string[];
  params: Pick<ChatParams, 'mentions' | 'activeDocument'>;
}

interface LiveTurn extends TurnSnapshot {
  running?: Running;
  stopped?: boolean;
  companions: Companions;
}

interface OpenDialog {
  dialog: PendingDialog;
  settle(answer: ApproveResult | { answers: Answers } | null): void;
}

/** The most sent messages that are kept for recall. */
const KEPT_MESSAGES = 50;
/** The most turns a panel is redrawn from. */
const KEPT_TURNS = 500;
/** The newest turns that are replayed with their tools and edits; before them words are enough. */
const JOURNALLED_TURNS = 30;

export class ChatController {
  private sessionId: string | undefined;
  private turns: LiveTurn[] = [];
  /** The turn a reader was led to, until something else is asked or opened. */
  private revealed: string | undefined;
  private readonly dialogs = new Map<string, OpenDialog>();
  private readonly batch: Batcher<{ key: string; event: TurnEvent }>;

  constructor(private readonly ports: ChatPorts) {
    this.sessionId = ports.load<string>('sessionId');
    this.batch = new Batcher((items) => ports.post({ type: 'events', items }));
  }

  get session(): string | undefined {
    return this.sessionId;
  }

  get busy(): boolean {
    return this.turns.some((turn) => turn.running !== undefined);
  }

  get waiting(): boolean {
    return this.dialogs.size > 0;
  }

  /** The open approval that came first, for the keyboard. */
  firstApproval(): PendingDialog | undefined {
    return [...this.dialogs.values()].find((open) => open.dialog.kind === 'approve')?.dialog;
  }

  /** Everything a fresh panel needs. */
  snapshot(): Extract<ToPanel, { type: 'reset' }> {
    this.batch.now();
    const draft = this.ports.load<string>('draft');
    return {
      type: 'reset',
      turns: this.turns.map(({ running: _running, stopped: _stopped, companions: _companions, ...turn }) => turn),
      pending: [...this.dialogs.values()].map((open) => open.dialog),
      sent: this.ports.load<string[]>('sent') ?? [],
      ...(draft ? { draft } : {}),
      ...(this.revealed ? { reveal: this.revealed } : {}),
    };
  }

  /** Sends a message; resolves when it is answered, failed or stopped. Never rejects: the panel shows what happened. */
  async send(text: string, mode: Mode, companions: Companions, options: { steer?: boolean; model?: string } = {}): Promise<void> {
    const steer = options.steer === true;
    this.revealed = undefined;
    const sent: Sent = { key: this.ports.newKey(), text, mode, attachments: companions.labels, ...(steer ? { steer } : {}) };
    const turn: LiveTurn = { ...sent, events: [], companions };
    this.turns.push(turn);
    if (this.turns.length > KEPT_TURNS) this.turns.shift();
    this.remember(text);
    this.ports.post({ type: 'turn', turn: sent });
    const running = this.ports.chat(
      {
        text,
        mode,
        ...companions.params,
        ...(this.sessionId ? { sessionId: this.sessionId } : {}),
        ...(options.model ? { model: options.model } : {}),
        ...(steer ? { steer } : {}),
      },
      (event) => this.onEvent(turn, event),
    );
    turn.running = running;
    this.ports.onActivity();
    let outcome: Outcome;
    try {
      const result = await running.result;
      if (!this.isOtherTurn(turn, result.turnId)) turn.turnId = result.turnId;
      if (this.sessionId !== result.sessionId && this.turns.includes(turn)) this.setSession(result.sessionId);
      const usage = result.usage ? { usage: result.usage } : {};
      // A message that steered another turn has no answer of its own: it is in that turn.
      const text = steer && this.isOtherTurn(turn, result.turnId) ? '' : result.text;
      outcome = { kind: 'done', stopReason: result.stopReason, text, ...(text || !steer ? usage : {}) };
    } catch (error) {
      outcome = turn.stopped || isCancelled(error) ? { kind: 'cancelled' } : { kind: 'error', error: failureOf(error) };
    }
    delete turn.running;
    this.finish(turn, outcome);
  }

  /** Sends a failed turn's message again, or continues one that a reload cut. */
  async retry(key: string): Promise<void> {
    const turn = this.turns.find((item) => item.key === key);
    if (!turn || turn.running) return;
    if (turn.outcome?.kind === 'interrupted') {
      await this.send(this.ports.words.continueText, turn.mode, { labels: [], params: {} });
      return;
    }
    this.turns = this.turns.filter((item) => item !== turn);
    this.ports.post({ type: 'removed', key });
    await this.send(turn.text, turn.mode, turn.companions);
  }

  /** Stops what runs; what waits in the queue stays there, and is stopped only when it is alone. */
  stop(): void {
    const queued = (turn: LiveTurn) => turn.events.some((e) => e.kind === 'queued') && !turn.events.some((e) => e.kind === 'started');
    const live = this.turns.filter((turn) => turn.running);
    const target = live.filter((turn) => !queued(turn));
    for (const turn of target.length ? target : live) this.cancel(turn);
  }

  /** Takes a waiting message back. */
  unqueue(key: string): void {
    const turn = this.turns.find((item) => item.key === key);
    if (!turn?.running) return;
    this.cancel(turn);
    this.turns = this.turns.filter((item) => item !== turn);
    this.ports.post({ type: 'removed', key });
  }

  /** Keeps what is being written, for the next window. */
  keepDraft(text: string): void {
    this.ports.store('draft', text || undefined);
  }

  /** Begins an empty conversation; what still runs in the old one is stopped. */
  newSession(): void {
    this.stopAll();
    this.revealed = undefined;
    this.setSession(undefined);
    this.turns = [];
    this.ports.post(this.snapshot());
    this.ports.onActivity();
  }

  /** Shows another session, its turns replayed from the server's journal. */
  async openSession(sessionId: string): Promise<void> {
    if (sessionId !== this.sessionId) this.stopAll();
    this.revealed = undefined;
    this.setSession(sessionId);
    this.turns = [];
    await this.replay();
  }

  /**
   * Shows a session at one of its messages; at its beginning where that was compacted away. False, with nothing done,
   * while something runs: a look back must not stop it. Rejects for a session the server does not have.
   */
  async openAt(sessionId: string, messageId?: string): Promise<boolean> {
    if (this.busy) return false;
    const { data } = await this.ports.command<{ id?: string; history?: HistoryMessage[] }>('chatls.session.load', { sessionId });
    const turns = [...groupByTurn(data?.history ?? [])];
    // What the model remembered by its tool is known by its turn.
    const found = turns.find(([turn, messages]) => messageId && (turn === messageId || messages.some(({ id }) => id === messageId))) ?? turns[0];
    this.setSession(data?.id ?? sessionId);
    this.revealed = found?.[0];
    this.turns = [];
    await this.replay();
    return true;
  }

  /**
   * Redraws the open session from the server: after a reload of the window, or a restart of the server. The newest turns
   * come whole from its journal, earlier ones as the words of its history.
   */
  async replay(): Promise<void> {
    const sessionId = this.sessionId;
    if (!sessionId || this.busy) return;
    const { data } = await this.ports.command<{ history?: HistoryMessage[] }>('chatls.session.load', { sessionId });
    const history = groupByTurn(data?.history ?? []);
    const newest = new Set([...history.keys()].slice(-JOURNALLED_TURNS));
    // The turn a restart cut may have left nothing in the history; the journal's latest turn knows it.
    const latest = await this.journal(sessionId);
    const known = new Map(this.turns.map((turn) => [turn.turnId, turn]));
    const replayed = await Promise.all(
      [...history].map(async ([turnId, messages]): Promise<TurnSnapshot> => {
        const sent = { ...sentFromHistory(turnId, messages), attachments: known.get(turnId)?.attachments ?? [] };
        const events = !newest.has(turnId) ? [] : turnId === latest.turnId ? latest.events : (await this.journal(sessionId, turnId)).events;
        return events.length ? replayedTurn(sent, turnId, events) : turnFromHistory(sent, turnId, messages);
      }),
    );
    // One that was completed and is not in the history either was taken back by a rewind.
    const completed = latest.events.some((event) => event.kind === 'ended' && event.status === 'completed');
    if (latest.turnId && !history.has(latest.turnId) && !completed) {
      replayed.push(replayedTurn({ key: latest.turnId, text: '', mode: 'chat', attachments: [] }, latest.turnId, latest.events));
    }
    if (this.busy || sessionId !== this.sessionId) return; // something newer is shown meanwhile
    const companions: Companions = { labels: [], params: {} };
    this.turns = replayed.filter((turn) => turn.text !== '').map((turn) => ({ ...turn, companions }));
    this.ports.post(this.snapshot());
  }

  private async journal(sessionId: string, turnId?: string): Promise<{ turnId: string; events: TurnEvent[] }> {
    const args = { sessionId, ...(turnId ? { turnId } : {}) };
    const { data } = await this.ports.command<{ events?: TurnEvent[]; turnId?: string }>('chatls.session.events', args);
    return { turnId: data?.turnId ?? '', events: data?.events ?? [] };
  }

  /** There is no server any more that waits for an answer. */
  disconnected(): void {
    for (const callId of [...this.dialogs.keys()]) this.settle(callId, null, this.ports.words.stopped);
  }

  /** Puts a question of the server to the user; resolves with the answer, null when nobody gave one. */
  ask<D extends PendingDialog>(
    kind: D['kind'],
    params: D['params'],
    onCancel: (cancelled: () => void) => void,
  ): Promise<ApproveResult | { answers: Answers } | null> {
    this.batch.now();
    const dialog = { kind, key: this.turnOf(params.callId), params } as PendingDialog;
    return new Promise((resolve) => {
      this.dialogs.set(params.callId, { dialog, settle: resolve });
      onCancel(() => this.settle(params.callId, null, this.ports.words.settledElsewhere));
      this.ports.post({ type: 'dialog', dialog });
      this.ports.onActivity();
    });
  }

  /** Settles an open question; false when it is not open any more. `text` is what the card then says. */
  settle(callId: string, answer: ApproveResult | { answers: Answers } | null, text: string): boolean {
    const open = this.dialogs.get(callId);
    if (!open) return false;
    this.dialogs.delete(callId);
    open.settle(answer);
    this.ports.post({ type: 'resolved', callId, text, answered: answer !== null });
    this.ports.onActivity();
    return true;
  }

  approval(callId: string): Extract<PendingDialog, { kind: 'approve' }> | undefined {
    const dialog = this.dialogs.get(callId)?.dialog;
    return dialog?.kind === 'approve' ? dialog : undefined;
  }

  /** The last turn that applied an edit, for undo. */
  lastEditedTurn(): string | undefined {
    return this.turns.findLast((turn) => turn.turnId && turn.events.some((e) => e.kind === 'edit' && e.status === 'applied'))?.turnId;
  }

  /** Notes that edits of a turn were taken back, or applied again. */
  markUndone(turnId: string, callId: string | undefined, status: 'undone' | 'applied' = 'undone'): void {
    const turn = this.turns.find((item) => item.turnId === turnId);
    if (!turn) return;
    const edits = new Map<string, TurnEvent>();
    for (const event of turn.events) {
      if (event.kind !== 'edit' || (callId && event.callId !== callId)) continue;
      const key = `${event.callId} ${event.uri}`;
      if (event.status === (status === 'undone' ? 'applied' : 'undone')) edits.set(key, { kind: 'edit', callId: event.callId, uri: event.uri, status });
      else edits.delete(key);
    }
    for (const event of edits.values()) {
      turn.events.push(event);
      this.batch.push({ key: turn.key, event });
    }
    this.batch.now();
  }

  private onEvent(turn: LiveTurn, event: TurnEvent): void {
    if (turn.steer && this.isOtherTurn(turn, event.turnId)) return;
    if (event.turnId) turn.turnId ??= event.turnId;
    appendEvent(turn.events, event);
    this.batch.push({ key: turn.key, event });
    if (event.kind === 'queued' || event.kind === 'started') this.ports.onActivity();
  }

  private isOtherTurn(turn: LiveTurn, turnId: string | undefined): boolean {
    return turnId !== undefined && this.turns.some((other) => other !== turn && other.turnId === turnId);
  }

  private finish(turn: LiveTurn, outcome: Outcome): void {
    this.batch.now();
    turn.outcome = outcome;
    const turnId = turn.turnId ? { turnId: turn.turnId } : {};
    if (this.turns.includes(turn)) this.ports.post({ type: 'outcome', key: turn.key, outcome, ...turnId });
    this.ports.onActivity();
  }

  private cancel(turn: LiveTurn): void {
    turn.stopped = true;
    turn.running?.cancel();
  }

  private stopAll(): void {
    for (const turn of this.turns.filter((item) => item.running)) this.cancel(turn);
  }

  /** The turn a question belongs to: the one that announced the call, else the one that runs. */
  private turnOf(callId: string): string {
    const named = this.turns.findLast((turn) => turn.events.some((event) => 'callId' in event && event.callId === callId));
    return (named ?? this.turns.findLast((turn) => turn.running) ?? this.turns[this.turns.length - 1])?.key ?? '';
  }

  private setSession(sessionId: string | undefined): void {
    this.sessionId = sessionId;
    this.ports.store('sessionId', sessionId);
  }

  private remember(text: string): void {
    const sent = (this.ports.load<string[]>('sent') ?? []).filter((item) => item !== text);
    this.ports.store('sent', [...sent, text].slice(-KEPT_MESSAGES));
  }
}
