/** What can be done with one item of memory: edit, pin, mark, forget with an undo, ask where it is from, accept, reject. */

import * as vscode from 'vscode';
import { forgottenWords, offerUndo } from '../commands/memory';
import { guarded, type RunCommand } from '../commands/palette';
import type { Results } from '../commands/results';
import { oneLine, plain, withoutIcons } from '../text';
import type { FactSource, ItemDetails } from './data';
import { STATUSES, statusWord } from './memory-words';
import type { MemoryTarget, Row } from './rows';

/** Most conversations that are quoted below what is known of an item. */
const MOST_QUOTED = 3;

/**
 * Whether this is what a key of ours gives instead of a row. The editor puts the row in its place that has the focus, which
 * need not be the selected one: nothing, where none has it.
 */
function isMark(given: unknown): boolean {
  return typeof given === 'object' && given !== null && '$treeViewId' in given;
}

/** Opens the conversation at the message; false when that cannot be done now. */
export type OpenMessage = (session: string, message?: string) => Promise<boolean>;

export interface MemoryItemsInput {
  run: RunCommand;
  results: Results;
  openMessage: OpenMessage;
  /** The row that is selected in the view. */
  selected(): Row | undefined;
  /** A row is about to go: the focus goes to another one. */
  leave(row: Row): Promise<void>;
  /** Draws the view anew: what an action was about is no longer as it shows. */
  refresh(): void;
}

/** Registers the inline actions of the view. */
export function registerMemoryItems(input: MemoryItemsInput): vscode.Disposable[] {
  const { run, results, openMessage } = input;
  const action = (name: string, body: (target: MemoryTarget, row: Row) => Promise<void>) =>
    vscode.commands.registerCommand(name, (...given: unknown[]) => guarded(async () => {
      const row = given.length && !isMark(given[0]) ? (given[0] as Row | undefined) : input.selected();
      try {
        if (row?.target) await body(row.target, row);
      } catch (error) {
        // The item may have changed elsewhere; then the view is not up to date.
        input.refresh();
        throw error;
      }
    }));
  return [
    action('chatls.ui.memory.item.edit', (target) => edit(run, target)),
    action('chatls.ui.memory.item.pin', async ({ id }) => void (await run('chatls.memory.pin', { id, pinned: true }))),
    action('chatls.ui.memory.item.unpin', async ({ id }) => void (await run('chatls.memory.pin', { id, pinned: false }))),
    action('chatls.ui.memory.item.sensitive', (target) => mark(run, target, true)),
    action('chatls.ui.memory.item.notSensitive', (target) => mark(run, target, false)),
    action('chatls.ui.memory.item.forget', (target, row) => forget(run, target, () => input.leave(row))),
    action('chatls.ui.memory.item.why', (target) => openSource(run, results, target, openMessage)),
    action('chatls.ui.memory.item.details', async (target) => {
      await showWhy(run, results, target);
      // The preview takes the focus; who goes through the rows is not to lose it.
      await vscode.commands.executeCommand('chatls.memory.focus');
    }),
    action('chatls.ui.memory.item.accept', async (target) => void (await run('chatls.memory.accept', { ids: target.ids ?? [target.id] }))),
    action('chatls.ui.memory.item.reject', async (target) => void (await run('chatls.memory.reject', { ids: target.ids ?? [target.id] }))),
    action('chatls.ui.memory.item.digest', async ({ id, text }) => results.show(text, (await run('chatls.memory.digests', { name: id })).markdown)),
  ];
}

/** Opens the conversation something was said in; tells what is known of it where that is gone, or not to be left now. */
async function openSource(run: RunCommand, results: Results, target: MemoryTarget, openMessage: OpenMessage): Promise<void> {
  const { session, message } = target.origin ?? {};
  try {
    if (session && (await openMessage(session, message))) return;
  } catch {
    // The conversation was deleted; what is remembered of it outlives it.
  }
  await showWhy(run, results, target);
}

async function mark(run: RunCommand, { kind, id, key }: MemoryTarget, sensitive: boolean): Promise<void> {
  if (kind === 'profile') await run('chatls.memory.profile', { set: { [sensitive ? 'sensitive_mark' : 'sensitive_unmark']: key ?? '' } });
  else await run('chatls.memory.sensitive', { id, sensitive });
}

/** Kinds that are edited whole, and those of which one field is. */
const WHOLE = new Set(['fact', 'profile']);
const BY_FIELD = new Set(['topic', 'project', 'episode']);

async function edit(run: RunCommand, target: MemoryTarget): Promise<void> {
  const whole = WHOLE.has(target.kind);
  if (!whole && !BY_FIELD.has(target.kind)) return;
  const change = whole ? await askFor(target.text, target.category ?? target.key) : await askForField(run, target);
  if (!change || (whole && !change.content)) return;
  const { markdown, data } = await run<{ undoToken?: string } | undefined>('chatls.memory.edit', { id: target.id, ...change });
  await offerUndo(run, plain(markdown), data?.undoToken);
}

/** Another text for one; undefined where it stays as it is. */
async function askFor(text: string, prompt: string | undefined): Promise<{ content: string } | undefined> {
  const value = await vscode.window.showInputBox({
    title: vscode.l10n.t('Edit What Is Remembered'),
    value: text,
    ...(prompt ? { prompt } : {}),
  });
  const content = value?.trim();
  return content === undefined || content === text ? undefined : { content };
}

/** Which field of an item, and what it is to say; the server knows what can be edited. */
async function askForField(run: RunCommand, { id }: MemoryTarget): Promise<{ field: string; content: string } | undefined> {
  const { l10n, window } = vscode;
  const { data } = await run<ItemDetails | undefined>('chatls.memory.why', { id });
  const fields = Object.entries(data?.fields ?? {}).map(([field, value]) => ({
    field,
    value,
    label: fieldWord(field),
    description: withoutIcons(oneLine(field === 'status' ? statusWord(value) : value)),
  }));
  if (!fields.length) return undefined;
  const picked = await window.showQuickPick(fields, { title: l10n.t('Edit What Is Remembered'), placeHolder: l10n.t('What should be changed?') });
  if (!picked) return undefined;
  const change = picked.field === 'status' ? await askForStatus(picked.value) : await askFor(picked.value, picked.label);
  return change && { field: picked.field, ...change };
}

async function askForStatus(now: string): Promise<{ content: string } | undefined> {
  const choices = STATUSES.map((content) => ({ content, label: statusWord(content) }));
  const picked = await vscode.window.showQuickPick(choices, { title: vscode.l10n.t('Edit What Is Remembered'), placeHolder: statusWord(now) });
  return picked && picked.content !== now ? { content: picked.content } : undefined;
}

function fieldWord(field: string): string {
  const words: Record<string, string> = {
    name: vscode.l10n.t('Name'),
    summary: vscode.l10n.t('Summary'),
    outcome: vscode.l10n.t('Outcome'),
    description: vscode.l10n.t('Description'),
    status: vscode.l10n.t('Status'),
  };
  return words[field] ?? field;
}

const FORGOTTEN = new Set([...WHOLE, ...BY_FIELD, 'past']);

async function forget(run: RunCommand, target: MemoryTarget, leave: () => Promise<void>): Promise<void> {
  if (!FORGOTTEN.has(target.kind)) return;
  const { markdown, data } = await run<{ undoToken?: string } | undefined>('chatls.memory.forget', { ids: [target.id] });
  await leave();
  await offerUndo(run, forgottenWords(markdown, data), data?.undoToken);
}

interface HistoryMessage {
  id?: string;
  turnId?: string;
  role: string;
  text: string;
  time?: string;
}

interface SessionHistory {
  title?: string;
  name?: string;
  history?: HistoryMessage[];
}

/** Shows where an item comes from: what is known about it, and the conversation it was said in. */
export async function showWhy(run: RunCommand, results: Results, target: Pick<MemoryTarget, 'id'>): Promise<void> {
  const { markdown, data } = await run<ItemDetails | undefined>('chatls.memory.why', { id: target.id });
  const latest = sourcesOf(data).filter(({ session }) => session).slice(-MOST_QUOTED);
  const said = await Promise.all(latest.map((source) => saidIn(run, source)));
  await results.show(vscode.l10n.t('Where It Comes From'), [markdown, ...said].join('\n\n'));
}

/** Who said an item; the conversation itself is the source of one that is a node of the graph. */
export function sourcesOf(details: ItemDetails | undefined): FactSource[] {
  return details?.fact?.sources ?? details?.sources ?? [];
}

async function saidIn(run: RunCommand, { session, message }: FactSource): Promise<string> {
  try {
    const { data } = await run<SessionHistory | undefined>('chatls.session.load', { sessionId: session });
    return quoted(data ?? {}, message);
  } catch {
    // The server names a session that was deleted as unknown; the fact outlives it.
    return `_${vscode.l10n.t('The conversation it was said in is no longer kept.')}_`;
  }
}

/** The message and its neighbours as Markdown, the message itself marked. */
export function quoted({ title, name, history = [] }: SessionHistory, message: string | undefined): string {
  // What the model remembered by its tool is known by its turn.
  const at = history.findIndex((item) => message && (item.id === message || item.turnId === message));
  const shown = at < 0 ? history.slice(0, 4) : history.slice(Math.max(0, at - 1), at + 2);
  const lines = shown.flatMap((item) => {
    const when = item.time ? ` · ${new Date(item.time).toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' })}` : '';
    const mark = at >= 0 && item === history[at] ? '▶ ' : '';
    return [`${mark}**${item.role}**${when}`, item.text.replace(/^/gm, '> ')];
  });
  return [`## ${title || name || vscode.l10n.t('Conversation')}`, ...lines].join('\n\n');
}
