/** What the Context view draws, and the messages between its page and the extension host. */

import type { AttachedContext, Checkpoint, PromptMessage, PromptPreview } from './data';

/** One bar: a part of the prompt. */
export interface Bar {
  /** What opens its text. */
  id: string;
  /** A section's name, `turn context` or `conversation`. */
  name: string;
  tokens: number;
  /** Tokens of it the provider may read from its cache. */
  cached: number;
}

export interface ContextState {
  model: string;
  tokens: number;
  /** Tokens as the provider counts them; undefined where only the estimate is known. */
  counted?: number;
  /** The model's window in tokens; 0 when unknown. */
  window: number;
  /** US dollars of the conversation so far; undefined when unknown. */
  costUsd?: number;
  bars: Bar[];
  /** Contexts that ride along with every turn. */
  attached: AttachedContext[];
  /** Skills that stand in every prompt because the user pinned them. */
  pinned: string[];
  /** Personas the user chose. */
  personas: string[];
  checkpoints: { id: string; label: string; when: string }[];
  /** Why there is nothing to draw. */
  problem?: string;
}

export type ToContext = { type: 'state'; state: ContextState };
export type FromContext =
  | { type: 'ready' }
  | { type: 'open'; id: string }
  | { type: 'rewind'; id: string }
  | { type: 'fold'; name: string; fold: boolean }
  | { type: 'detach' | 'unpin' | 'dismiss'; name: string }
  | { type: 'attach' | 'switchModel' };

/** The bars of a prompt with the exact text of each. Empty parts are left out. */
export function partsOf(preview: PromptPreview): (Bar & { text: string })[] {
  const sections = (preview.sections ?? []).map((section, index) => ({
    id: `section:${index}`,
    name: section.name,
    tokens: section.tokens,
    cached: section.cached ? section.tokens : 0,
    text: section.text,
  }));
  const messages = preview.messages ?? [];
  const newest = startOfNewest(messages);
  const isContext = (message: PromptMessage) => message.kind === 'turn_context';
  const groups = [
    { id: 'conversation', name: 'conversation', mine: (message: PromptMessage) => !isContext(message) },
    { id: 'turn', name: 'turn context', mine: isContext },
  ].map(({ id, name, mine }) => ({
    id,
    name,
    tokens: sum(messages.filter(mine)),
    cached: sum(messages.slice(0, newest).filter(mine)),
    text: messages.filter((message) => mine(message) && message.text).map(({ role, text }) => `### ${role}\n\n${text}`).join('\n\n'),
  }));
  return [...sections, ...groups].filter((part) => part.text !== '');
}

/** Where the turn that would be sent next begins: what stands before it was sent already. */
function startOfNewest(messages: PromptMessage[]): number {
  let start = messages.length;
  while (start > 0 && messages[start - 1]!.role === 'user') start -= 1;
  return start;
}

function sum(messages: PromptMessage[]): number {
  return messages.reduce((total, message) => total + message.tokens, 0);
}

/** Checkpoints, the newest first, with their time as the user reads it. */
export function checkpointRows(checkpoints: Checkpoint[], language: string): ContextState['checkpoints'] {
  return [...checkpoints]
    .sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
    .map(({ id, label, time }) => ({ id, label: label || id, when: time ? new Date(time).toLocaleString(language) : '' }));
}
