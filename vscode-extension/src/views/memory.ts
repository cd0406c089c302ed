/** The Memory view: everything that is remembered, and a search over it. */

import * as vscode from 'vscode';
import type { RunCommand } from '../commands/palette';
import type { Digest, Episode, Fact, ItemDetails, MemoryContents, ProfileField, Project, RecallItem, Topic, WaitingItem } from './data';
import { bestOf, memoryRows, onlyThose, problemRows, recallRows } from './memory-rows';
import { debounced, RowTree, type Row } from './rows';

/** The most facts that are read at once; where there are more, each category is read when it is opened. */
const FACTS = 500;
/** So many tell how long the longest score bar is. */
const BEST = 50;
const EPISODES = 500;
const FOUND = 50;

export class MemoryView implements vscode.Disposable {
  private readonly tree: RowTree;
  private readonly soon = debounced(() => void this.tree.update(), 200);
  private readonly subscriptions: vscode.Disposable;
  private query = '';
  /** What a background run just added, while only that is shown. */
  private recent: ReadonlySet<string> | undefined;
  /** How many facts of a category are shown, where more than the first were asked for. */
  private readonly shown = new Map<string, number>();
  private readings = 0;

  constructor(
    private readonly run: RunCommand,
    extensionUri: vscode.Uri,
  ) {
    const docs = vscode.Uri.joinPath(extensionUri, 'dist', 'docs', 'memory.md');
    this.tree = new RowTree('chatls.memory', () => this.read(), (uri) => vscode.Uri.parse(uri, true));
    this.subscriptions = vscode.Disposable.from(
      this.tree,
      this.soon,
      vscode.commands.registerCommand('chatls.ui.view.memory.filter', () => this.askForFilter()),
      vscode.commands.registerCommand('chatls.ui.view.memory.clearFilter', () => this.filter('')),
      vscode.commands.registerCommand('chatls.ui.view.memory.refresh', () => this.refresh()),
      vscode.commands.registerCommand('chatls.ui.memory.docs', () => vscode.commands.executeCommand('markdown.showPreview', docs)),
      vscode.commands.registerCommand('chatls.ui.view.memory.more', (category: string) => this.showMore(category)),
      vscode.commands.registerCommand('chatls.ui.view.memory.recent', (ids?: string[]) => this.showRecent(ids ?? [])),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** The row that is selected. */
  get selected(): Row | undefined {
    return this.tree.view.selection[0];
  }

  /** A row is about to go. */
  leave(row: Row): Promise<void> {
    return this.tree.focusBeside(row);
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

  private showMore(category: string): void {
    this.shown.set(category, (this.shown.get(category) ?? FACTS) + FACTS);
    this.refresh();
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
    const reading = ++this.readings;
    const { query, recent } = this;
    let rows: Row[] = [];
    let waiting = 0;
    let failed = false;
    try {
      if (query) {
        const found = await this.run<{ items?: RecallItem[] }>('chatls.memory.recall', { query, limit: FOUND, typing: true });
        rows = recallRows(found.data?.items ?? []);
        if (!rows.length) rows = problemRows((await this.stats()).problems);
      } else {
        const all = await this.contents(recent);
        waiting = all.waiting.length;
        rows = memoryRows(recent ? onlyThose(all, recent) : all);
      }
      return rows;
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      // An earlier reading may end later; what the view says is of the last one.
      if (reading === this.readings) await this.tell({ empty: !rows.length && !failed, waiting });
    }
  }

  /** What the view says around its rows. */
  private async tell({ empty, waiting }: { empty: boolean; waiting: number }): Promise<void> {
    const { view } = this.tree;
    const { query, recent } = this;
    view.description = query ? `“${query}”` : recent ? vscode.l10n.t('just remembered') : '';
    if (query && empty) view.message = vscode.l10n.t('Nothing in memory matches “{0}”.', query);
    else if (recent && empty) view.message = vscode.l10n.t('Nothing of it is remembered any more.');
    else delete view.message;
    const tooltip = waiting === 1 ? vscode.l10n.t('1 item waits for your review') : vscode.l10n.t('{0} items wait for your review', waiting);
    view.badge = waiting ? { value: waiting, tooltip } : undefined;
    await vscode.commands.executeCommand('setContext', 'chatls.memoryEmpty', !query && !recent && empty);
  }

  private async stats(): Promise<{ facts?: Record<string, number>; problems?: string[] }> {
    return (await this.run<{ facts?: Record<string, number>; problems?: string[] } | undefined>('chatls.memory.stats')).data ?? {};
  }

  private async contents(recent?: ReadonlySet<string>): Promise<MemoryContents> {
    const ask = async <T>(name: string, args: object = {}) => (await this.run<T | undefined>(`chatls.memory.${name}`, args)).data;
    const [{ facts: counts = {}, problems = [] }, profile, projects, topics, timeline, digests, waiting] = await Promise.all([
      this.stats(),
      ask<{ fields?: ProfileField[] }>('profile'),
      ask<{ projects?: Project[] }>('projects'),
      ask<{ topics?: Topic[] }>('topics'),
      ask<{ episodes?: Episode[]; total?: number }>('timeline', { limit: EPISODES }),
      ask<{ digests?: Digest[] }>('digests'),
      ask<{ items?: WaitingItem[] }>('pending'),
    ]);
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const many = total > FACTS && !recent;
    const facts = recent ? await this.named(recent) : await this.facts(many ? { limit: BEST } : { limit: FACTS });
    const load = (category: string) => this.facts({ category, limit: this.shown.get(category) ?? FACTS });
    return {
      facts: many ? [] : facts,
      total,
      ...(many ? { more: { counts, best: bestOf(facts), load } } : {}),
      profile: profile?.fields ?? [],
      projects: projects?.projects ?? [],
      topics: topics?.topics ?? [],
      episodes: timeline?.episodes ?? [],
      ...(timeline?.total === undefined ? {} : { episodeTotal: timeline.total }),
      digests: digests?.digests ?? [],
      waiting: waiting?.items ?? [],
      problems,
    };
  }

  private async facts(which: { category?: string; limit: number }): Promise<Fact[]> {
    return (await this.run<{ facts?: Fact[] } | undefined>('chatls.memory.facts', which)).data?.facts ?? [];
  }

  /** The facts among some ids, as far as they are still remembered. */
  private async named(ids: ReadonlySet<string>): Promise<Fact[]> {
    const facts = [...ids].filter((id) => !/^(ep_|[a-z]+:)/.test(id));
    const found = await Promise.all(
      facts.map((id) => this.run<ItemDetails | undefined>('chatls.memory.why', { id }).then(({ data }) => data?.fact, () => undefined)),
    );
    return found.filter((fact) => fact !== undefined);
  }
}
