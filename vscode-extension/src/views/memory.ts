/** The Memory view: everything that is remembered, and a search over it. */

import * as vscode from 'vscode';
import type { RunCommand } from '../commands/palette';
import type { Digest, Episode, Fact, MemoryContents, ProfileField, Project, RecallItem, Topic, WaitingItem } from './data';
import { memoryRows, onlyThose, recallRows } from './memory-rows';
import { debounced, RowTree, type Row } from './rows';

/** The most facts that are listed; the search reaches all. */
const FACTS = 500;
const EPISODES = 500;
const FOUND = 50;

export class MemoryView implements vscode.Disposable {
  private readonly tree: RowTree;
  private readonly soon = debounced(() => this.refresh(), 200);
  private readonly subscriptions: vscode.Disposable;
  private query = '';
  /** What a background run just added, while only that is shown. */
  private recent: ReadonlySet<string> | undefined;

  constructor(private readonly run: RunCommand) {
    this.tree = new RowTree('chatls.memory', () => this.read(), (uri) => vscode.Uri.parse(uri, true));
    this.subscriptions = vscode.Disposable.from(
      this.tree,
      this.soon,
      vscode.commands.registerCommand('chatls.ui.view.memory.filter', () => this.askForFilter()),
      vscode.commands.registerCommand('chatls.ui.view.memory.clearFilter', () => this.filter('')),
      vscode.commands.registerCommand('chatls.ui.view.memory.refresh', () => this.refresh()),
      vscode.commands.registerCommand('chatls.ui.view.memory.recent', (ids?: string[]) => this.showRecent(ids ?? [])),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  refresh(): void {
    this.tree.refresh();
  }

  /** Memory was written to; many writes in a row are one reading. */
  changed(): void {
    this.soon();
  }

  private filter(query: string, recent?: ReadonlySet<string>): void {
    this.query = query.trim();
    this.recent = recent;
    void vscode.commands.executeCommand('setContext', 'chatls.memoryFiltered', this.query !== '' || recent !== undefined);
    this.refresh();
  }

  /** Shows what was just remembered, and nothing else until everything is asked for. */
  private async showRecent(ids: string[]): Promise<void> {
    this.filter('', ids.length ? new Set(ids) : undefined);
    await vscode.commands.executeCommand('chatls.memory.focus');
  }

  /** Filters while the user types; turning away brings back what was shown before. */
  private askForFilter(): void {
    const box = vscode.window.createInputBox();
    const before = this.query;
    let kept = false;
    const soon = debounced(() => this.filter(box.value), 150);
    box.title = vscode.l10n.t('Search Memory');
    box.prompt = vscode.l10n.t('Words, or a question. Empty shows everything.');
    box.value = before;
    box.onDidChangeValue(soon);
    box.onDidAccept(() => {
      kept = true;
      box.hide();
    });
    box.onDidHide(() => {
      soon.dispose();
      this.filter(kept ? box.value : before);
      box.dispose();
    });
    box.show();
  }

  private async read(): Promise<Row[]> {
    const { view } = this.tree;
    const { query, recent } = this;
    view.description = query ? `“${query}”` : recent ? vscode.l10n.t('just remembered') : '';
    const all = query ? undefined : await this.contents();
    const contents = all && recent ? onlyThose(all, recent) : all;
    const rows = contents ? memoryRows(contents) : recallRows((await this.run<{ items?: RecallItem[] }>('chatls.memory.recall', { query, limit: FOUND })).data?.items ?? []);
    if (query && !rows.length) view.message = vscode.l10n.t('Nothing in memory matches “{0}”.', query);
    else if (recent && !rows.length) view.message = vscode.l10n.t('Nothing of it is remembered any more.');
    else delete view.message;
    view.badge = all?.waiting.length ? { value: all.waiting.length, tooltip: vscode.l10n.t('Waiting for You') } : undefined;
    await vscode.commands.executeCommand('setContext', 'chatls.memoryEmpty', !query && !recent && rows.length === 0);
    return rows;
  }

  private async contents(): Promise<MemoryContents> {
    const ask = async <T>(name: string, args: object = {}) => (await this.run<T | undefined>(`chatls.memory.${name}`, args)).data;
    const [facts, profile, projects, topics, timeline, digests, waiting] = await Promise.all([
      ask<{ facts?: Fact[]; total?: number }>('facts', { limit: FACTS }),
      ask<{ fields?: ProfileField[] }>('profile'),
      ask<{ projects?: Project[] }>('projects'),
      ask<{ topics?: Topic[] }>('topics'),
      ask<{ episodes?: Episode[] }>('timeline', { limit: EPISODES }),
      ask<{ digests?: Digest[] }>('digests'),
      ask<{ items?: WaitingItem[] }>('pending'),
    ]);
    return {
      facts: facts?.facts ?? [],
      total: facts?.total ?? 0,
      profile: profile?.fields ?? [],
      projects: projects?.projects ?? [],
      topics: topics?.topics ?? [],
      episodes: timeline?.episodes ?? [],
      digests: digests?.digests ?? [],
      waiting: waiting?.items ?? [],
    };
  }
}
