/** Messages between the extension host and the chat panel's webview, and the state both draw from. */

import type { Answers, ApproveParams, AskParams, Completion, Mode, TurnEvent, Usage } from './wire';

/** How a turn ended, or that the window was reloaded under it. */
export type Outcome =
  | { kind: 'done'; stopReason: string; text?: string; usage?: Usage }
  | { kind: 'cancelled' }
  | { kind: 'interrupted' }
  | { kind: 'error'; error: Failure };

/** A failed turn in words. */
export interface Failure {
  /** One of the protocol's kinds, `queue_full` or `internal`. */
  kind: string;
  message: string;
  hint?: string;
  provider?: string;
  retryAfterSeconds?: number;
}

/** A thing that rides along with a question: the active file, a selection, an attached file. */
export interface Attachment {
  id: string;
  label: string;
  title: string;
  kind: 'document' | 'selection' | 'file';
}

/** What the user sent. `key` names the turn between host and webview, before the server has given it an id. */
export interface Sent {
  key: string;
  text: string;
  mode: Mode;
  attachments: string[];
  steer?: boolean;
}

/** A whole turn, to redraw a panel from. */
export interface TurnSnapshot extends Sent {
  turnId?: string;
  events: TurnEvent[];
  outcome?: Outcome;
}

/** Where the server stands. */
export type Engine =
  | { state: 'starting' | 'ready' | 'answering' | 'waiting'; detail?: string }
  | { state: 'failed'; message: string; missingPython?: boolean };

/** What surrounds the conversation. */
export interface Surroundings {
  engine: Engine;
  provider: string;
  model: string;
  /** Tokens used of the model's window, and the window; 0 when unknown. */
  used: number;
  window: number;
  mode: Mode;
  trusted: boolean;
  attachments: Attachment[];
}

/** What a quiet line about memory opens, and the token that takes it back. */
export interface RememberedItems {
  ids: string[];
  undoToken?: string;
}

export type ToPanel =
  | { type: 'reset'; turns: TurnSnapshot[]; pending: PendingDialog[]; sent: string[]; draft?: string; reveal?: string }
  | { type: 'surroundings'; value: Surroundings }
  | { type: 'turn'; turn: Sent }
  | { type: 'events'; items: { key: string; event: TurnEvent }[] }
  | { type: 'outcome'; key: string; turnId?: string; outcome: Outcome }
  | { type: 'removed'; key: string }
  | { type: 'dialog'; dialog: PendingDialog }
  | { type: 'resolved'; callId: string; text: string; answered: boolean }
  | { type: 'hunks'; callId: string; accepted: string[]; rejected: string[] }
  | { type: 'notice'; level: 'info' | 'warning' | 'error'; text: string; memory?: RememberedItems }
  | { type: 'completions'; id: number; items: Completion[] }
  | { type: 'compose'; text: string; mode?: Mode };

/** A question the server waits on. */
export type PendingDialog =
  | { kind: 'approve'; key: string; params: ApproveParams }
  | { kind: 'ask'; key: string; params: AskParams };

export type FromPanel =
  | { type: 'ready' }
  | { type: 'send'; text: string; mode: Mode; steer: boolean }
  | { type: 'stop' }
  | { type: 'unqueue'; key: string }
  | { type: 'retry'; key: string }
  | { type: 'mode'; mode: Mode }
  | { type: 'draft'; text: string }
  | { type: 'complete'; id: number; text: string; offset: number }
  | { type: 'detach'; id: string }
  | { type: 'drop'; uris: string[] }
  | { type: 'link'; href: string; line?: number }
  | { type: 'copy'; text: string }
  | { type: 'insert'; text: string }
  | { type: 'approve'; callId: string; optionId: string }
  | { type: 'answer'; callId: string; answers: Answers | null }
  | { type: 'diff'; callId: string; uri: string }
  | { type: 'undo'; turnId: string; callId?: string }
  | { type: 'memory'; ids: string[] }
  | { type: 'undoMemory'; token: string }
  | { type: 'raiseBudget'; key: string }
  | { type: 'action'; action: PanelAction };

/** Buttons of cards and of the empty state; each is one of the extension's commands. */
export type PanelAction =
  | 'addKey'
  | 'useOllama'
  | 'switchModel'
  | 'restart'
  | 'showLog'
  | 'manageTrust'
  | 'openSettings'
  | 'compact'
  | 'attach'
  | 'showContext';
