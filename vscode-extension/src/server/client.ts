/** One language client: which documents it follows and what it tells the server about itself. */

import { spawn, type ChildProcess } from 'node:child_process';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  type ClientCapabilities,
  type FeatureState,
  type StaticFeature,
} from 'vscode-languageclient/node';
import type { ServerCommand } from './discovery';
import { withoutSecrets } from './output';

/** Declares the requests this extension answers beyond the protocol's standard ones. */
class ChatCapabilities implements StaticFeature {
  getState(): FeatureState {
    return { kind: 'static' };
  }
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, chatls: { approve: {}, ask: {}, save: {}, diagnostics: {}, secrets: {} } };
  }
  initialize(): void {}
  clear(): void {}
}

/** A client whose troubles are drawn by the panel and the status bar, never as toasts. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }
}

/** A client and the last line its server wrote to standard error: usually why it died. */
export interface MadeClient {
  client: LanguageClient;
  lastWords(): string;
}

export interface ClientInput {
  server: ServerCommand;
  output: vscode.LogOutputChannel;
  /** Commands the server offers in code actions that the panel runs itself; true when it did. */
  intercept(command: string, args: unknown[]): Promise<boolean>;
}

/** A client that is not started yet. It never restarts the server by itself and shows no toasts. */
export function makeClient({ server, output, intercept }: ClientInput): MadeClient {
  let lastWords = '';
  const client = new QuietClient(
    'chatls',
    'ChatLS',
    async () => {
      const child = await launch(server);
      child.stderr?.on('data', (chunk: Buffer) => {
        lastWords = chunk.toString('utf8').trim().split('\n').pop()?.trim() || lastWords;
      });
      return child;
    },
    {
      documentSelector: [
        { scheme: 'file' },
        { scheme: 'untitled' },
        { scheme: 'vscode-notebook-cell' },
        { scheme: 'vscode-vfs' },
      ],
      outputChannel: output,
      traceOutputChannel: withoutSecrets(output),
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { trusted: vscode.workspace.isTrusted },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      middleware: {
        executeCommand: async (command, args, next) => {
          if (await intercept(command, args)) return undefined;
          return next(command, args) as Promise<unknown>;
        },
      },
    },
  );
  client.registerFeature(new ChatCapabilities());
  return { client, lastWords: () => lastWords };
}

/** Starts the server's process. Rejects when the program cannot be started at all. */
function launch(server: ServerCommand): Promise<ChildProcess> {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath;
  const child = spawn(server.command, server.args, {
    stdio: 'pipe',
    windowsHide: true,
    env: { ...process.env, PYTHONUNBUFFERED: '1', PYTHONIOENCODING: 'utf-8' },
    ...(folder ? { cwd: folder } : {}),
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child));
  });
}
