/** Follows links of the panel: web addresses outside, files in the editor. */

import * as vscode from 'vscode';

/** Opens a link; a path is looked for in the opened folders. Nothing but web, mail and files is followed. */
export async function openLink(href: string, line: number | undefined): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  const found = await resolveFile(href);
  if (!found) {
    void vscode.window.showInformationMessage(vscode.l10n.t('{0} was not found in the workspace.', href));
    return;
  }
  const at = line ?? found.line;
  const place = at === undefined ? undefined : new vscode.Range(at - 1, 0, at - 1, 0);
  await vscode.commands.executeCommand('vscode.open', found.uri, { preview: true, ...(place ? { selection: place } : {}) });
}

/** The file a link names and its one-based line: `a.py`, `a.py:12`, `a.py#L12`, a `file:` URI. */
async function resolveFile(href: string): Promise<{ uri: vscode.Uri; line?: number } | undefined> {
  const match = /^(.*?)(?:(?:#L?|:)(\d+)(?:[-:]\S*)?)?$/.exec(href);
  const path = match?.[1] || href;
  const line = match?.[2] ? { line: Math.max(1, Number(match[2])) } : {};
  for (const uri of candidates(path)) {
    const stat = await vscode.workspace.fs.stat(uri).then(
      (found) => found,
      () => undefined, // not there: the next candidate may be
    );
    if (stat && stat.type !== vscode.FileType.Directory) return { uri, ...line };
  }
  return undefined;
}

function candidates(path: string): vscode.Uri[] {
  if (/^file:/i.test(path)) return [vscode.Uri.parse(path, true)];
  if (/^[a-z][a-z0-9+.-]+:/i.test(path) && !/^[a-z]:[\\/]/i.test(path)) return [];
  const decoded = path.includes('%') ? safeDecode(path) : path;
  if (/^([\\/]|[a-z]:[\\/])/i.test(decoded)) return [vscode.Uri.file(decoded)];
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => vscode.Uri.joinPath(folder.uri, decoded));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a literal percent sign
  }
}
