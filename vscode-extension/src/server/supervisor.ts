/** Keeps one server running: finds or installs it, starts it, starts it again when it dies, says how it is. */

import * as vscode from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import type { Engine } from '../panel';
import { Backoff } from './backoff';
import { makeClient } from './client';
import { findServer, NoServerError, type ServerCommand } from './discovery';
import { completeProgram, installServer, NoPythonError } from './install';

export interface SupervisorInput {
  context: vscode.ExtensionContext;
  output: vscode.LogOutputChannel;
  /** Registers handlers on a client that is about to start. */
  configure(client: LanguageClient): void;
  /** A server answered `initialize`. */
  started(client: LanguageClient): void;
  intercept(command: string, args: unknown[]): Promise<boolean>;
}

export class Supervisor implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Engine>();
  readonly onDidChange = this.changed.event;
  private current: LanguageClient | undefined;
  private state: Engine = { state: 'starting' };
  private readonly backoff = new Backoff();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private awaited: Deferred<LanguageClient> | undefined;
  private generation = 0;
  private disposed = false;

  constructor(private readonly input: SupervisorInput) {}

  get engine(): Engine {
    return this.state;
  }

  /** The running client, or undefined. */
  get client(): LanguageClient | undefined {
    return this.state.state === 'failed' || this.state.state === 'starting' ? undefined : this.current;
  }

  /** The client once a server runs; rejects with the reason when none can be started. */
  whenReady(): Promise<LanguageClient> {
    if (this.client) return Promise.resolve(this.client);
    if (this.state.state === 'failed') return Promise.reject(new NoServerError(this.state.message));
    this.awaited ??= deferred();
    return this.awaited.promise;
  }

  /** Starts (or restarts, at the user's wish) the server. */
  async start(): Promise<void> {
    this.backoff.reset();
    await this.launch();
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    clearTimeout(this.timer);
    this.generation += 1;
    await this.stopCurrent();
    this.changed.dispose();
  }

  private set(state: Engine): void {
    this.state = state;
    if (!this.disposed) this.changed.fire(state);
  }

  private async launch(): Promise<void> {
    clearTimeout(this.timer);
    const generation = ++this.generation;
    await this.stopCurrent();
    if (this.state.state !== 'starting') this.set({ state: 'starting' });
    let began = Date.now();
    let words = () => '';
    try {
      const server = await this.locate();
      if (generation !== this.generation) return;
      this.input.output.info(`Starting ${server.command} ${server.args.join(' ')} (${server.source})`);
      const { client, lastWords } = makeClient({ server, output: this.input.output, intercept: this.input.intercept });
      words = lastWords;
      this.current = client;
      this.input.configure(client);
      began = Date.now();
      const died = new Promise<never>((_, reject) => {
        client.onDidChangeState(({ oldState, newState }) => {
          if (newState !== State.Stopped || client !== this.current) return;
          if (oldState === State.Running) this.onDeath(Date.now() - began, vscode.l10n.t('The server stopped unexpectedly.'));
          else reject(new Error('the server ended before it answered'));
        });
      });
      died.catch(() => undefined); // reported by the race below; a later death is onDeath's business
      await Promise.race([client.start(), died]);
      if (generation !== this.generation) return;
      this.set({ state: 'ready' });
      this.input.started(client);
      this.awaited?.resolve(client);
      this.awaited = undefined;
    } catch (error) {
      if (generation !== this.generation) return;
      this.input.output.error(`The server did not start: ${String(error)}`);
      // Nothing to start, or a setting that points nowhere, will not mend itself; a program that ended may start next time.
      if (this.current === undefined) this.fail(asNoServer(error));
      else this.onDeath(Date.now() - began, startFailure(words()));
    }
  }

  private onDeath(ranFor: number, why: string): void {
    if (this.disposed) return;
    const delay = this.backoff.next(ranFor);
    if (delay === undefined) {
      this.fail(new NoServerError(`${why} ${vscode.l10n.t('Starting it again three times did not help.')}`));
      return;
    }
    this.input.output.warn(`${why} Restart ${this.backoff.attempt} in ${delay} ms.`);
    this.set({ state: 'starting', detail: vscode.l10n.t('The server stopped; starting it again ({0} of 3)…', this.backoff.attempt) });
    this.timer = setTimeout(() => void this.launch(), delay);
  }

  private fail(error: NoServerError): void {
    const missingPython = error instanceof NoPythonError;
    const message = vscode.l10n.t(error.template, ...error.values);
    this.set({ state: 'failed', message, ...(missingPython ? { missingPython } : {}) });
    this.awaited?.reject(error);
    this.awaited = undefined;
  }

  private async stopCurrent(): Promise<void> {
    const client = this.current;
    this.current = undefined;
    if (!client) return;
    // A client that is half started cannot be stopped in order; disposing ends its process all the same.
    await client.dispose(2_000).catch((error: unknown) => this.input.output.warn(`Stopping the server: ${String(error)}`));
  }

  private async locate(): Promise<ServerCommand> {
    const { context } = this.input;
    const settings = vscode.workspace.getConfiguration('chatls.server');
    const storage = context.globalStorageUri.fsPath;
    const version = String(context.extension.packageJSON.version);
    const found = await findServer({
      path: expandHome(settings.get('path', '')),
      interpreter: expandHome(settings.get('interpreter', '')),
      environment: process.env,
      platform: process.platform,
      own: completeProgram(storage, version, process.platform),
    });
    if (found) return found;
    return { command: await this.install(storage, version), args: ['serve'], source: 'own environment' };
  }

  private async install(storage: string, version: string): Promise<string> {
    const { l10n, ProgressLocation, window } = vscode;
    return window.withProgress(
      { location: ProgressLocation.Notification, title: l10n.t('ChatLS is setting up its server'), cancellable: true },
      (progress, token) => {
        const abort = new AbortController();
        token.onCancellationRequested(() => abort.abort());
        return installServer({
          storage,
          bundled: vscode.Uri.joinPath(this.input.context.extensionUri, 'dist', 'server').fsPath,
          version,
          environment: process.env,
          platform: process.platform,
          signal: abort.signal,
          log: (line) => this.input.output.info(line),
          report: (step) => {
            const message = step === 'environment' ? l10n.t('Making a Python environment…') : l10n.t('Installing Python packages (once, about a minute)…');
            progress.report({ message });
            this.set({ state: 'starting', detail: message });
          },
        });
      },
    );
  }
}

function expandHome(file: string): string {
  const home = process.env.HOME ?? process.env.USERPROFILE;
  return home && /^~[\\/]/.test(file) ? home + file.slice(1) : file;
}

interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: Error): void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined); // whoever waits sees it; nobody waiting is no error
  return { promise, resolve, reject };
}

/** Why a server did not come up, with what it said last when it said anything. */
function startFailure(lastWords: string): string {
  return lastWords
    ? vscode.l10n.t('The server ended before it answered: {0}', lastWords)
    : vscode.l10n.t('The server ended before it answered.');
}

function asNoServer(error: unknown): NoServerError {
  return error instanceof NoServerError ? error : new NoServerError(error instanceof Error ? error.message : String(error));
}
