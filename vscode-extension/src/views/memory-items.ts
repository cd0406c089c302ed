/** What can be done with one item of memory: edit, pin, mark, forget with an undo, ask where it is from, accept, reject. */

import * as vscode from 'vscode';
import { offerUndo } from '../commands/memory';
import { guarded, type RunCommand } from '../commands/palette';
import type { Results } from '../commands/results';
import type { Fact, FactSource } from './data';
import type { MemoryTarget, Row } from './rows';

type Named = Pick<Row, 'target'>;

/** Opens the conversation at the message; false when that cannot be done now. */
export type OpenMessage = (session: string, message?: string) => Promise<boolean>;

/** Registers the inline actions of the view. */
export function registerMemoryItems(run: RunCommand, results: Results, openMessage: OpenMessage): vscode.Disposable[] {
  const action = (name: string, body: (target: MemoryTarget) => Promise<void>) =>
    vscode.commands.registerCommand(name, (row?: Named) => guarded(async () => {
      if (row?.target) await body(row.target);
    }));
  return [
    action('chatls.ui.memory.item.edit', (target) => edit(run, target)),
    action('chatls.ui.memory.item.pin', async ({ id }) => void (await run('chatls.memory.pin', { id, pinned: true }))),
    action('chatls.ui.memory.item.unpin', async ({ id }) => void (await run('chatls.memory.pin', { id, pinned: false }))),
    action('chatls.ui.memory.item.sensitive', (target) => mark(run, target, true)),
    action('chatls.ui.memory.item.notSensitive', (target) => mark(run, target, false)),
    action('chatls.ui.memory.item.forget', (target) => forget(run, target)),
    action('chatls.ui.memory.item.why', (target) => openSource(run, results, target, openMessage)),
    action('chatls.ui.memory.item.details', (target) => showWhy(run, results, target)),
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

async function mark(run: RunCommand, { kind, id }: MemoryTarget, sensitive: boolean): Promise<void> {
  const key = id.slice('profile:'.length);
  if (kind === 'profile') await run('chatls.memory.profile', { set: { [sensitive ? 'sensitive_mark' : 'sensitive_unmark']: key } });
  else await run('chatls.memory.sensitive', { id, sensitive });
}

async function edit(run: RunCommand, target: MemoryTarget): Promise<void> {
  const value = await vscode.window.showInputBox({
    title: vscode.l10n.t('Edit What Is Remembered'),
    value: target.text,
    ...(target.category ? { prompt: target.category } : {}),
  });
  const content = value?.trim();
  if (!content || content === target.text) return;
  if (target.kind === 'profile') await run('chatls.memory.profile', { set: { [target.id.slice('profile:'.length)]: content } });
  else await run('chatls.memory.edit', { id: target.id, content });
}

async function forget(run: RunCommand, target: MemoryTarget): Promise<void> {
  const { markdown, data } = await run<{ undoToken?: string } | undefined>('chatls.memory.forget', { ids: idsOf(target) });
  await offerUndo(run, markdown, data?.undoToken);
}

/** A list in the profile is one row here and one item per entry there. */
export function idsOf(target: MemoryTarget): string[] {
  if (target.kind !== 'profile') return [target.id];
  return [target.id, ...target.text.split(',').map((part) => `${target.id}:${part.trim()}`)];
}

interface HistoryMessage {
  id?: string;
  role: string;
  text: string;
  time?: string;
}

interface SessionHistory {
  title?: string;
  name?: string;
  history?: HistoryMessage[];
}

/** Shows where a fact comes from: what is known about it, and the conversation it was said in. */
export async function showWhy(run: RunCommand, results: Results, target: MemoryTarget): Promise<void> {
  const title = vscode.l10n.t('Where It Comes From');
  if (target.kind !== 'fact') {
    const { markdown } = await run('chatls.memory.neighbors', { query: target.text });
    await results.show(title, markdown);
    return;
  }
  const { markdown, data } = await run<{ fact?: Fact } | undefined>('chatls.memory.why', { id: target.id });
  const said = await Promise.all((data?.fact?.sources ?? []).filter(({ session }) => session).map((source) => saidIn(run, source)));
  await results.show(title, [markdown, ...said].join('\n\n'));
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
  const at = history.findIndex((item) => message && item.id === message);
  const shown = at < 0 ? history.slice(0, 4) : history.slice(Math.max(0, at - 1), at + 2);
  const lines = shown.flatMap((item) => {
    const when = item.time ? ` · ${item.time.slice(0, 16).replace('T', ' ')}` : '';
    const mark = item.id === message && message ? '▶ ' : '';
    return [`${mark}**${item.role}**${when}`, item.text.replace(/^/gm, '> ')];
  });
  return [`## ${title || name || vscode.l10n.t('Conversation')}`, ...lines].join('\n\n');
}
