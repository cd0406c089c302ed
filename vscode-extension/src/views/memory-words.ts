/** What things of memory are called: a change of it in the chat's quiet line, the status of a project. */

import { l10n } from 'vscode';

/** The server's notice of a change. */
export interface MemoryChange {
  added?: string[];
  changed?: string[];
  removed?: string[];
  undoToken?: string;
  background?: boolean;
  /** Another window or program did it, and told of it there. */
  elsewhere?: boolean;
}

/** The line, and the items it opens; undefined for a change nobody needs to be told of. */
export function memoryLine(change: MemoryChange): { text: string; ids: string[] } | undefined {
  const { added = [], changed = [], removed = [], background, elsewhere } = change;
  if (elsewhere) return undefined;
  const waiting = changed.filter((id) => id.startsWith('review:'));
  if (waiting.length) {
    const text = waiting.length === 1 ? l10n.t('1 item waits for your review') : l10n.t('{0} items wait for your review', waiting.length);
    return { text, ids: waiting };
  }
  // Merged facts are added by tidying up: what went is the news then.
  if (background && removed.length && removed.length > added.length) return { text: l10n.t('Memory was tidied'), ids: [] };
  const ids = [...added, ...(background ? changed.filter((id) => id.startsWith('profile:')) : [])];
  const words = countWords(ids);
  return words.length ? { text: l10n.t('Remembered {0}', words.join(', ')), ids } : undefined;
}

/** What background learning says of itself in `chatls/status`. */
export interface Learning {
  notice?: string;
  failing?: boolean;
}

/** The line when learning began to fail, or works again; undefined when nothing changed. */
export function learningLine(before: Learning | undefined, now: Learning | undefined): { level: 'info' | 'warning'; text: string } | undefined {
  const [failed, fails] = [before?.failing === true, now?.failing === true];
  if (failed === fails) return undefined;
  if (fails) return { level: 'warning', text: now?.notice || l10n.t('Learning in the background fails. Nothing is lost.') };
  return { level: 'info', text: l10n.t('Learning in the background works again.') };
}

function countWords(ids: string[]): string[] {
  const kinds = new Map<string, number>();
  for (const id of ids) kinds.set(kindOf(id), (kinds.get(kindOf(id)) ?? 0) + 1);
  const say: Record<string, (count: number) => string> = {
    fact: (count) => (count === 1 ? l10n.t('1 fact') : l10n.t('{0} facts', count)),
    profile: (count) => (count === 1 ? l10n.t('1 profile entry') : l10n.t('{0} profile entries', count)),
    project: (count) => (count === 1 ? l10n.t('1 project') : l10n.t('{0} projects', count)),
    topic: (count) => (count === 1 ? l10n.t('1 topic') : l10n.t('{0} topics', count)),
    episode: (count) => (count === 1 ? l10n.t('1 episode') : l10n.t('{0} episodes', count)),
  };
  return Object.entries(say).flatMap(([kind, words]) => (kinds.has(kind) ? [words(kinds.get(kind)!)] : []));
}

function kindOf(id: string): string {
  if (id.startsWith('ep_')) return 'episode';
  const colon = id.indexOf(':');
  return colon < 0 ? 'fact' : id.slice(0, colon);
}

/** What a project may be set to; the files may hold other words. */
export const STATUSES = ['active', 'paused', 'completed'];

/** The word for a project's status. */
export function statusWord(status: string): string {
  const words: Record<string, string> = { active: l10n.t('active'), paused: l10n.t('paused'), completed: l10n.t('completed') };
  return words[status] ?? status;
}
