/** Registers the palette: runs server commands, asks for their arguments, shows their results. */

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { failureOf } from '../chat/failure';
import { plain, unlinked } from '../text';
import type { CommandResult } from '../wire';
import { serverCommands, type Input, type ServerCommandEntry } from './server-commands';
import type { Results } from './results';

/** Runs one server command; undefined arguments are left out. */
export type RunCommand = <T>(command: string, args?: object) => Promise<CommandResult<T>>;

/** A {@link RunCommand} over the running server; waits for one that is starting. */
export function commandRunner(ready: () => Promise<LanguageClient>): RunCommand {
  return async <T>(command: string, args: object = {}) => {
    const client = await ready();
    const result: CommandResult<T> | null = await client.sendRequest('workspace/executeCommand', { command, arguments: [args] });
    return result ?? { markdown: '', data: undefined as T };
  };
}

export interface PaletteInput {
  run: RunCommand;
  results: Results;
  session(): string | undefined;
  asUri(uri: vscode.Uri): string;
}

/** Registers every command of the table. */
export function registerServerCommands(input: PaletteInput): vscode.Disposable[] {
  return serverCommands((text) => vscode.l10n.t(text)).map((entry) =>
    vscode.commands.registerCommand(`chatls.ui.${entry.id}`, () => guarded(() => runEntry(entry, input))),
  );
}

/** Runs the body of a command; what goes wrong becomes one message that says what to do. */
export async function guarded(body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    const { message, hint } = failureOf(error);
    const doctor = vscode.l10n.t('Doctor');
    const chosen = await vscode.window.showErrorMessage(unlinked(hint && !message.includes(hint) ? `${message} ${hint}` : message), doctor);
    if (chosen === doctor) await vscode.commands.executeCommand('chatls.ui.doctor');
  }
}

async function runEntry(entry: ServerCommandEntry, { run, results, session, asUri }: PaletteInput): Promise<void> {
  const args: Record<string, string> = {};
  for (const question of entry.inputs ?? []) {
    const answer = await askFor(entry.title, question);
    if (answer === undefined) return;
    if (answer) args[question.name] = answer;
  }
  const sessionId = entry.session ? session() : undefined;
  if (sessionId) args.sessionId = sessionId;
  const active = vscode.window.activeTextEditor?.document;
  if (entry.document && active?.uri.scheme === 'file') args.uri = asUri(active.uri);
  const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: entry.title }, () =>
    run(`chatls.${entry.command}`, args),
  );
  if (entry.toast) void vscode.window.showInformationMessage(plain(result.markdown) || entry.title);
  else await results.show(entry.title, result.markdown);
}

/** One answer: undefined when the user turned away (or left a needed answer empty). */
async function askFor(title: string, question: Input): Promise<string | undefined> {
  const editor = vscode.window.activeTextEditor;
  const selected = question.selection && editor && !editor.selection.isEmpty ? editor.document.getText(editor.selection).trim() : '';
  const answer = await vscode.window.showInputBox({
    title,
    prompt: question.prompt,
    value: selected.includes('\n') ? '' : selected,
    ...(question.placeholder ? { placeHolder: question.placeholder } : {}),
  });
  if (answer === undefined) return undefined;
  return answer.trim() || (question.optional ? '' : undefined);
}
