/**
 * The protocol as this extension uses it: the generated types under the names of this side, a little looser where a
 * record of our own has less (no numbers) or more (`undone`) than what comes over the wire.
 */

import type * as wire from './generated/protocol';

export type {
  AskParams,
  AskQuestion as Question,
  ApproveParams,
  ApproveResult,
  ApprovalEdit as ProposedFile,
  ChatParams,
  ChatResult,
  ContextItemWire as ContextItem,
  LocationWire as Location,
  Position,
  Range,
  Status,
  UsageWire as Usage,
} from './generated/protocol';

export type Mode = NonNullable<wire.ChatParams['mode']>;
export type Answers = wire.AskResult['answers'];
export type NoticeLevel = wire.NoticeEvent['level'];

/** `data` of a failed chat request; its kind is open, so that a newer server's kinds reach the card as well. */
export type FailureData = Omit<wire.ErrorData, 'kind'> & { kind: string };

/** A contiguous replacement; an approval may leave the old text out. */
export type Hunk = wire.ApprovalHunk;

type Unnumbered<E> = E extends wire.ChatEvent ? Omit<E, 'turnId' | 'seq'> & { turnId?: string; seq?: number } : never;

/** One event of a turn. */
export type TurnEvent = Unnumbered<wire.ChatEvent>;

/** What every command answers. */
export interface CommandResult<T = unknown> {
  markdown: string;
  data: T;
}

/** An item of `chatls.chat.complete`. */
export interface Completion {
  label: string;
  insert: string;
  detail?: string;
  kind?: string;
}

export const ERROR_MODEL = -32010;
export const ERROR_QUEUE_FULL = -32001;
export const ERROR_CANCELLED = -32800;
