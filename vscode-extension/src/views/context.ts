/** The Context view: what the next request would carry, section by section, and the way back. */

import * as vscode from 'vscode';
import { failureOf } from '../chat/failure';
import { page } from '../chat/view';
import { guarded, type RunCommand } from '../commands/palette';
import type { AttachedContext, Checkpoint, PromptPreview } from './data';
import { checkpointRows, partsOf, type ContextState, type FromContext } from './context-state';
import { debounced } from './rows';

const SCHEME = 'chatls-prompt';

/** What takes a context, a skill or a persona out of the prompt. */
const LETS_GO = { detach: 'chatls.context.detach', unpin: 'chatls.skill.unpin', dismiss: 'chatls.persona.detach' } as const;

interface Past {
  checkpoints: Checkpoint[];
  attached: AttachedContext[];
  pinned: string[];
  personas: string[];
  costUsd?: number;
}

const NOTHING: Past = { checkpoints: [], attached: [], pinned: [], personas: [] };

export interface ContextInput {
  extensionUri: vscode.Uri;
  run: RunCommand;
  session(): string | undefined;
  mode(): string;
  asUri(uri: vscode.Uri): string;
}

export class ContextView implements vscode.WebviewViewProvider, vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly id = 'chatls.context';
  private view: vscode.WebviewView | undefined;
  private loaded = false;
  private reading = 0;
  private texts = new Map<string, { name: string; text: string }>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly soon = debounced(() => void this.read(), 200);
  private readonly subscriptions: vscode.Disposable;

  constructor(private readonly input: ContextInput) {
    this.subscriptions = vscode.Disposable.from(
      this.soon,
      this.changed,
      vscode.window.registerWebviewViewProvider(ContextView.id, this),
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor?.document.uri.scheme === 'file') this.refresh();
      }),
      vscode.commands.registerCommand('chatls.ui.view.context.refresh', () => this.refresh()),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Reads again soon, if anybody looks. */
  refresh(): void {
    if (this.view?.visible && this.loaded) this.soon();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query)?.text ?? vscode.l10n.t('This part of the prompt is gone; open it again from the Context view.');
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.loaded = false;
    const dist = vscode.Uri.joinPath(this.input.extensionUri, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((message: FromContext) => void guarded(() => this.handle(message)));
    view.onDidChangeVisibility(() => this.refresh());
    view.onDidDispose(() => {
      if (this.view === view) this.view = undefined;
    });
    view.webview.html = page(view.webview, dist, 'context');
  }

  private async handle(message: FromContext): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.loaded = true;
        return this.read();
      case 'open':
        return this.open(message.id);
      case 'rewind':
        await vscode.commands.executeCommand('chatls.ui.session.rewind', message.id);
        return this.read();
      case 'fold':
        await this.input.run('chatls.context.attach', { name: message.name, fold: message.fold, sessionId: this.input.session() });
        return this.read();
      case 'detach':
      case 'unpin':
      case 'dismiss':
        await this.input.run(LETS_GO[message.type], { name: message.name, sessionId: this.input.session() });
        return this.read();
      case 'attach':
        await vscode.commands.executeCommand('chatls.ui.context.attach');
        return this.read();
      case 'switchModel':
        await vscode.commands.executeCommand('chatls.ui.model.switch');
        return this.read();
    }
  }

  private async open(id: string): Promise<void> {
    const part = this.texts.get(id);
    if (!part) return;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${part.name.replace(/[\\/#?%]/g, ' ')}.txt`, query: id });
    this.changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  private async read(): Promise<void> {
    const mine = ++this.reading;
    const state = await this.state();
    // An answer that was overtaken by a newer question is old news.
    if (mine !== this.reading) return;
    void this.view?.webview.postMessage({ type: 'state', state });
    // The provider's own count takes a request to it: the estimate is drawn first.
    const counted = state.problem === undefined ? await this.counted() : undefined;
    if (counted !== undefined && mine === this.reading) void this.view?.webview.postMessage({ type: 'state', state: { ...state, counted } });
  }

  /** The prompt as it would be sent now; with `count` as many tokens as the provider counts. */
  private async preview(count: boolean): Promise<PromptPreview & { counted?: number }> {
    const { run, session, mode, asUri } = this.input;
    const sessionId = session();
    const active = vscode.window.activeTextEditor?.document.uri;
    const document = active?.scheme === 'file' ? { activeDocument: { uri: asUri(active) } } : {};
    const { data } = await run<PromptPreview | undefined>('chatls.prompt.show', { ...(sessionId ? { sessionId } : {}), ...document, mode: mode(), count });
    return data ?? {};
  }

  private async counted(): Promise<number | undefined> {
    try {
      return (await this.preview(true)).counted;
    } catch {
      return undefined; // the estimate stands
    }
  }

  private async state(): Promise<ContextState> {
    const sessionId = this.input.session();
    try {
      const preview = await this.preview(false);
      const parts = partsOf(preview);
      this.texts = new Map(parts.map(({ id, name, text }) => [id, { name, text }]));
      const past = sessionId ? await this.past(sessionId) : NOTHING;
      return {
        model: preview.model ?? '',
        tokens: preview.tokens ?? 0,
        window: preview.window ?? 0,
        bars: parts.map(({ text: _text, ...bar }) => bar),
        ...past,
        checkpoints: checkpointRows(past.checkpoints, vscode.env.language),
      };
    } catch (error) {
      const { message, hint } = failureOf(error);
      const problem = hint && !message.includes(hint) ? `${message} ${hint}` : message;
      return { model: '', tokens: 0, window: 0, bars: [], ...NOTHING, checkpoints: [], problem };
    }
  }

  /** What the conversation has gathered: ways back, what the user put into its prompt, money spent. */
  private async past(sessionId: string): Promise<Past> {
    const { run } = this.input;
    const [points, contexts, skills, personas, cost] = await Promise.all([
      run<{ checkpoints?: Checkpoint[] } | undefined>('chatls.session.rewind', { sessionId }),
      run<{ attached?: AttachedContext[] } | undefined>('chatls.context.attached', { sessionId, count: false }),
      run<{ skills?: { name: string; pinned?: boolean }[] } | undefined>('chatls.skill.list', { sessionId }),
      run<{ personas?: { name: string; attached?: boolean }[] } | undefined>('chatls.persona.list', { sessionId }),
      run<{ totalUsd?: number; unknown?: string[] } | undefined>('chatls.cost.show', { sessionId }),
    ]);
    const known = cost.data?.unknown?.length ? undefined : cost.data?.totalUsd;
    return {
      checkpoints: points.data?.checkpoints ?? [],
      attached: contexts.data?.attached ?? [],
      pinned: (skills.data?.skills ?? []).filter((skill) => skill.pinned).map(({ name }) => name),
      personas: (personas.data?.personas ?? []).filter((persona) => persona.attached).map(({ name }) => name),
      ...(known === undefined ? {} : { costUsd: known }),
    };
  }
}
