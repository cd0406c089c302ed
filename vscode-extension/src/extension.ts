/** The extension's entry: makes the parts and connects them. Every rule lives in the server; this only draws and asks. */

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { FileChangeType, ProgressType, type LanguageClient } from 'vscode-languageclient/node';
import { CompanionTracker } from './chat/companions';
import { ChatController, type Running } from './chat/controller';
import { PanelRouter } from './chat/router';
import { ChatView } from './chat/view';
import { registerContextCommands } from './commands/contexts';
import { extendMarkdownIt } from './commands/inert-preview';
import { registerMemoryCommands } from './commands/memory';
import { listed, switchModel, useOllama } from './commands/models';
import { commandRunner, guarded, registerServerCommands } from './commands/palette';
import { Results } from './commands/results';
import { registerSelectionCommands } from './commands/selection';
import { registerSessionCommands } from './commands/sessions';
import { signIn } from './commands/sign-in';
import { registerDialogs } from './dialogs';
import type { Engine, Surroundings } from './panel';
import { verdictOptions } from './review/hunks';
import { Reviews } from './review/reviews';
import { Keys } from './secrets';
import { NoServerError } from './server/discovery';
import { Supervisor } from './server/supervisor';
import { StatusItem } from './status';
import { Views } from './views';
import { learningLine, memoryLine, type Learning, type MemoryChange } from './views/memory-words';
import type { ChatParams, ChatResult, Mode, Status, TurnEvent } from './wire';

let supervisor: Supervisor | undefined;

export function activate(context: vscode.ExtensionContext): { extendMarkdownIt: typeof extendMarkdownIt } {
  const output = vscode.window.createOutputChannel('ChatLS', { log: true });
  const statusItem = new StatusItem();
  const companions = new CompanionTracker();
  const results = new Results();
  const keys = new Keys(context);
  const memento = context.workspaceState;
  let status: Status | undefined;

  const server = new Supervisor({ context, output, configure, started, intercept });
  supervisor = server;
  const run = commandRunner(() => server.whenReady());
  const asUri = (uri: vscode.Uri) => server.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  const fromWire = (wire: string) => server.client?.protocol2CodeConverter.asUri(wire) ?? vscode.Uri.parse(wire, true);
  const view = new ChatView(context.extensionUri, (message) => router.handle(message));
  const controller = new ChatController({
    post: (message) => view.post(message),
    chat: (params, onEvent) => chat(server, params, onEvent),
    command: run,
    load: (key) => memento.get(key),
    store: (key, value) => void memento.update(key, value),
    onActivity: refresh,
    newKey: randomUUID,
    words: {
      settledElsewhere: vscode.l10n.t('Settled elsewhere.'),
      stopped: vscode.l10n.t('Stopped.'),
      continueText: vscode.l10n.t('Continue.'),
    },
  });
  const reviews = new Reviews({
    settle: (callId, answer, text) => controller.settle(callId, answer, text),
    progress: (callId, accepted, rejected) => view.post({ type: 'hunks', callId, accepted, rejected }),
    asUri: fromWire,
  });
  const views = new Views({ extensionUri: context.extensionUri, run, results, session: () => controller.session, mode, asUri, fromWire, openMessage, filesChanged });
  const statusListeners: (() => void)[] = [];
  let prepared: unknown;
  const prepare = () => {
    if (server.client === undefined || server.client === prepared) return;
    prepared = server.client;
    void server.client.sendNotification('chatls/prepare', {});
  };
  const router = new PanelRouter({
    controller, companions, reviews, view, run, asUri, surroundings, refresh, setMode, prepare, settingsTaken,
  });

  function mode(): Mode {
    return memento.get<Mode>('mode') ?? 'chat';
  }

  /** The server tells its state once it has taken new settings; one that does not is not waited for. */
  function settingsTaken(): Promise<void> {
    return new Promise((resolve) => {
      const late = setTimeout(resolve, 2000);
      statusListeners.push(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  function setMode(value: Mode): void {
    void memento.update('mode', value);
  }

  /** The server's state, and above it what the extension itself knows. */
  function engine(): Engine {
    if (server.engine.state !== 'ready') return server.engine;
    if (controller.waiting) return { state: 'waiting' };
    return controller.busy ? { state: 'answering' } : { state: 'ready' };
  }

  function surroundings(): Surroundings {
    return {
      engine: engine(),
      provider: status?.provider ?? '',
      model: status?.model ?? '',
      used: status?.used ?? 0,
      window: status?.window ?? 0,
      mode: mode(),
      trusted: vscode.workspace.isTrusted,
      attachments: companions.attachments(),
    };
  }

  function refresh(): void {
    statusItem.update(engine(), status);
    void vscode.commands.executeCommand('setContext', 'chatls.busy', controller.busy);
    void vscode.commands.executeCommand('setContext', 'chatls.waiting', controller.firstApproval() !== undefined);
    view.post({ type: 'surroundings', value: surroundings() });
    views.turnChanged();
  }

  /** Handlers go onto a client before it starts: a message that comes with the first answer must find them. */
  function configure(client: LanguageClient): void {
    client.onNotification('chatls/status', (value: Status) => {
      const line = learningLine(status?.extraction as Learning | undefined, value.extraction as Learning | undefined);
      if (line) view.post({ type: 'notice', ...line });
      status = value;
      for (const told of statusListeners.splice(0)) told();
      refresh();
    });
    client.onNotification('chatls/instructionsChanged', ({ changed }: { changed?: string[] }) => {
      views.instructionsChanged();
      const names = (changed ?? []).map((uri) => vscode.workspace.asRelativePath(vscode.Uri.parse(uri)));
      if (names.length) notice(vscode.l10n.t('{0} changed; the next answer follows it', names.join(', ')));
    });
    client.onNotification('chatls/memoryChanged', (change: MemoryChange) => {
      views.memoryChanged();
      const line = memoryLine(change);
      const { undoToken } = change;
      if (line) view.post({ type: 'notice', level: 'info', text: line.text, memory: { ids: line.ids, ...(undoToken ? { undoToken } : {}) } });
    });
    registerDialogs(client, { controller, reviews, keys, show: () => void view.reveal(true) });
  }

  async function openMessage(session: string, message?: string): Promise<boolean> {
    const opened = await controller.openAt(session, message);
    if (opened) await view.reveal(true);
    return opened;
  }

  function filesChanged(uris: string[]): void {
    // Looked at anew, whatever became of them: the server reads the disk.
    const changes = uris.map((uri) => ({ uri, type: FileChangeType.Changed }));
    if (changes.length) void server.client?.sendNotification('workspace/didChangeWatchedFiles', { changes });
  }

  function notice(text: string): void {
    view.post({ type: 'notice', level: 'info', text });
  }

  function started(): void {
    void sendKeys();
    views.refresh();
    void controller.replay().catch((error: unknown) => output.warn(`The conversation could not be replayed: ${String(error)}`));
  }

  async function sendKeys(): Promise<void> {
    const all = await keys.all();
    if (Object.keys(all).length) await server.client?.sendNotification('chatls/secrets', all);
  }

  async function addKey(named?: string): Promise<void> {
    await keys.add(await listed(run), (provider) => signIn(run, provider), named);
  }

  /** Code actions of the server name its chat command; here the panel is the place for a chat. */
  async function intercept(command: string, args: unknown[]): Promise<boolean> {
    if (command !== 'chatls.chat.send') return false;
    const { text, mode: wanted } = (args[0] ?? {}) as { text?: string; mode?: Mode };
    await router.compose(text ?? '', wanted);
    return true;
  }

  async function trouble(): Promise<void> {
    const { l10n } = vscode;
    const actions = { [l10n.t('Restart')]: 'restart', [l10n.t('Show Log')]: 'log', [l10n.t('Doctor')]: 'doctor' } as const;
    const message = server.engine.state === 'failed' ? server.engine.message : (status?.message ?? l10n.t('Something is wrong with the server.'));
    const chosen = await vscode.window.showErrorMessage(message, ...Object.keys(actions));
    const command = chosen === undefined ? undefined : { restart: 'server.restart', log: 'server.log', doctor: 'doctor' }[actions[chosen]!];
    if (command) await vscode.commands.executeCommand(`chatls.ui.${command}`);
  }

  function decide(allow: boolean): void {
    const dialog = controller.firstApproval();
    if (dialog?.kind !== 'approve') return;
    const options = verdictOptions(dialog.params);
    router.handle({ type: 'approve', callId: dialog.params.callId, optionId: allow ? options.allow : options.deny });
  }

  const { registerCommand } = vscode.commands;
  context.subscriptions.push(
    output,
    statusItem,
    companions,
    results,
    reviews,
    views,
    vscode.window.registerWebviewViewProvider(ChatView.id, view, { webviewOptions: { retainContextWhenHidden: true } }),
    companions.onDidChange(refresh),
    server.onDidChange((value) => {
      if (value.state !== 'ready') controller.disconnected();
      refresh();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      void server.client?.sendNotification('chatls/trustChanged', { trusted: true });
      refresh();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('chatls.server')) void server.start();
    }),
    keys.onDidChange(() => void sendKeys()),
    ...registerServerCommands({ run, results, session: () => controller.session, asUri }),
    ...registerMemoryCommands(run, results),
    registerContextCommands(run, controller),
    ...registerSessionCommands(run, controller, () => void view.reveal()),
    ...registerSelectionCommands({ controller, companions, view, asUri, compose: (text, wanted) => router.compose(text, wanted) }),
    registerCommand('chatls.ui.ask', () => router.compose('')),
    registerCommand('chatls.ui.stop', () => controller.stop()),
    registerCommand('chatls.ui.approval.allow', () => decide(true)),
    registerCommand('chatls.ui.approval.deny', () => decide(false)),
    registerCommand('chatls.ui.model.switch', () => guarded(() => switchModel(run, controller.session))),
    registerCommand('chatls.ui.key.add', (named?: unknown) => guarded(() => addKey(typeof named === 'string' ? named : undefined))),
    registerCommand('chatls.ui.copilot.signIn', () => guarded(() => addKey('copilot'))),
    registerCommand('chatls.ui.key.remove', () => guarded(() => keys.remove())),
    registerCommand('chatls.ui.server.restart', () => server.start()),
    registerCommand('chatls.ui.server.log', () => output.show(true)),
    registerCommand('chatls.ui.trouble', trouble),
    registerCommand('chatls.ui.settings', () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:chatls.chatls')),
    registerCommand('chatls.ui.ollama', () => guarded(() => useOllama(run, controller.session))),
  );
  refresh();
  void server.start();
  return { extendMarkdownIt };
}

export async function deactivate(): Promise<void> {
  await supervisor?.dispose();
}

/** Sends one chat request, once a server runs; its events arrive as partial results. */
function chat(server: Supervisor, params: ChatParams, onEvent: (event: TurnEvent) => void): Running {
  const source = new vscode.CancellationTokenSource();
  const result = (async (): Promise<ChatResult> => {
    const client = await server.whenReady();
    const token = randomUUID();
    const progress = client.onProgress(new ProgressType<TurnEvent>(), token, (event) => {
      onEvent(event);
      // The model wants the user to see the graph: beside the conversation, without taking the focus.
      if (event.kind === 'tool_start' && event.name === 'graph_view') {
        const { subject } = (event.input ?? {}) as { subject?: unknown };
        void vscode.commands.executeCommand('chatls.ui.memory.graph', true, subject);
      }
    });
    // The answers of a server that died never come.
    let lost: vscode.Disposable | undefined;
    const death = new Promise<never>((_, reject) => {
      lost = server.onDidChange(() => {
        if (server.client !== client) reject(new NoServerError(vscode.l10n.t('The server stopped while it was answering.')));
      });
    });
    try {
      return await Promise.race([client.sendRequest<ChatResult>('chatls/chat', { ...params, partialResultToken: token }, source.token), death]);
    } finally {
      lost?.dispose();
      progress.dispose();
      source.dispose();
    }
  })();
  return { result, cancel: () => source.cancel() };
}
