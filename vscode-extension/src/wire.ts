/** Messages between the extension and the server (docs/protocol.md). Unknown fields are ignored, enums are open. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Location {
  uri: string;
  range?: Range;
}

export type Mode = 'chat' | 'agent' | 'coder';

/** Parameters of `chatls/chat`. */
export interface ChatParams {
  text: string;
  sessionId?: string;
  mode?: Mode;
  mentions?: Location[];
  activeDocument?: { uri: string; selection?: Range };
  model?: string;
  steer?: boolean;
  partialResultToken?: string | number;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  costUsd?: number | null;
  model?: string;
  provider?: string;
}

/** Result of `chatls/chat`. */
export interface ChatResult {
  sessionId: string;
  turnId: string;
  text: string;
  stopReason: string;
  usage?: Usage;
  edits?: { uri: string; applied: boolean; reason?: string }[];
}

export interface Hunk {
  id: string;
  range: Range;
  oldText?: string;
  newText: string;
}

export interface ContextItem {
  id: string;
  title: string;
  uri?: string;
}

export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';
export type EditStatus = 'proposed' | 'applied' | 'rejected' | 'failed';
export type NoticeLevel = 'info' | 'warning' | 'error';

/** One event of a turn; `seq` counts from 1 per turn. */
export type TurnEvent = { turnId?: string; seq?: number } & (
  | { kind: 'queued'; position: number }
  | { kind: 'started'; text?: string; mode?: string; provider?: string; model?: string }
  | { kind: 'context'; rules?: ContextItem[]; files?: ContextItem[]; facts?: ContextItem[]; skills?: ContextItem[] }
  | { kind: 'text'; delta: string }
  | { kind: 'reasoning'; delta: string }
  | {
      kind: 'tool_start';
      callId: string;
      name: string;
      label: string;
      toolKind: ToolKind;
      input?: unknown;
      locations?: Location[];
    }
  | {
      kind: 'tool_end';
      callId: string;
      status: 'completed' | 'failed' | 'denied';
      output?: string;
      locations?: Location[];
    }
  | {
      kind: 'edit';
      callId: string;
      uri: string;
      hunks?: Hunk[];
      status: EditStatus;
      syntaxErrors?: { line: number; message: string }[];
      reason?: string;
    }
  | { kind: 'plan'; entries: { text: string; status: string }[] }
  | { kind: 'notice'; level: NoticeLevel; text: string }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'ended'; status: string; stopReason?: string; error?: FailureData & { message?: string } }
);

/** `data` of a JSON-RPC error with code −32010. */
export interface FailureData {
  kind: string;
  provider?: string;
  retryAfterSeconds?: number;
  hint?: string;
}

/** What the server asks with `chatls/approve`. */
export interface ApproveParams {
  callId: string;
  title: string;
  toolKind: ToolKind;
  preview?: string;
  reason?: string;
  edits?: ProposedFile[];
  options: { id: string; title: string }[];
}

export interface ProposedFile {
  uri: string;
  version?: number | null;
  hunks: Hunk[];
  original?: string;
  proposed?: string;
  newUri?: string;
  kind?: string;
}

export interface ApproveResult {
  optionId: string;
  accepted?: string[];
}

export interface Question {
  id: string;
  text: string;
  options?: string[];
  multiple?: boolean;
}

/** What the server asks with `chatls/ask`. */
export interface AskParams {
  callId: string;
  questions: Question[];
}

export type Answers = Record<string, string | string[]>;

/** `chatls/status`, sent on change. */
export interface Status {
  state: string;
  provider?: string;
  model?: string;
  window?: number;
  used?: number;
  cachedShare?: number;
  memory?: unknown;
  extraction?: unknown;
  message?: string;
}

/** Every command answers with this. */
export interface CommandResult<T = unknown> {
  markdown: string;
  data: T;
}

export interface Completion {
  label: string;
  insert: string;
  detail?: string;
  kind?: string;
}

export const ERROR_MODEL = -32010;
export const ERROR_QUEUE_FULL = -32001;
export const ERROR_CANCELLED = -32800;
